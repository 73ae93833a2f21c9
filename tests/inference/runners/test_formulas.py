"""Formulas of modules, identified by their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.olmo.modeling_olmo import OlmoLayerNorm
from transformers.models.t5.modeling_t5 import T5LayerNorm
from transformers.pytorch_utils import Conv1D

from attention.walkthrough import normalise
from inference.runners.layer_parts import Event, is_close, linear, norm
from tests.support.cases import loop_over
from tests.support.present import present
from tests.support.traces import numbers

WIDTH, OUT, TOKENS = 6, 4, 5


def event(module: Any, width: int = WIDTH) -> Any:
    given = numbers(TOKENS, width, scale=2)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    with torch.inference_mode():
        gave = module(torch.tensor(given)).numpy()
    return Event("here", module, given, gave, 0)


@pytest.mark.parametrize("module", [nn.Linear(6, 4), nn.Linear(6, 4, bias=False), Conv1D(4, 6), nn.Linear(6, 6)])
def test_a_matrix_is_found_whichever_way_round_it_is_kept(module: Any) -> None:
    one = event(module)
    found = present(linear(one))
    bias = 0 if found.bias is None else found.bias
    np.testing.assert_allclose(one.given @ found.weight + bias, one.gave, atol=1e-5)


@loop_over(
    ("module", "kind"),
    [
        (nn.LayerNorm(WIDTH, eps=0.1), "layer"),
        (nn.LayerNorm(WIDTH, elementwise_affine=False), "layer"),
        (T5LayerNorm(WIDTH, eps=0.1), "rms"),
        (GemmaRMSNorm(WIDTH), "rms"),
        (OlmoLayerNorm(WIDTH), "layer"),
        (nn.RMSNorm(WIDTH, eps=1e-6), "rms"),
    ],
)
def test_a_norm_is_found_with_its_weights(module: Any, kind: str) -> None:
    one = event(module)
    found = present(norm(one))
    assert found.kind == kind
    np.testing.assert_allclose(normalise(one.given, found), one.gave, atol=1e-5)


@pytest.mark.parametrize("module", [nn.ReLU(), nn.Bilinear(6, 6, 4), nn.Embedding(3, 6)])
def test_another_formula_is_not_taken_for_one(module: Any) -> None:
    given = numbers(TOKENS, WIDTH)
    one = Event("here", module, given, np.maximum(given, 0), 0)
    assert linear(one) is None
    assert norm(one) is None


def test_a_copied_weight_outlives_the_module() -> None:
    module = nn.Linear(6, 4)
    found = present(linear(event(module)))
    before = found.weight.copy()
    nn.init.zeros_(module.weight)
    np.testing.assert_array_equal(found.weight, before)


def test_alike_looks_at_every_number() -> None:
    one = numbers(3, 4)
    other = one.copy()
    other[2, 3] += 0.01
    assert is_close(one, one)
    assert not is_close(one, other)
    assert not is_close(one, one[:2])
