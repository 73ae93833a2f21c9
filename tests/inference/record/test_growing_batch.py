"""A batch that grows layer by layer, equal to separate whole passes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attention.edits import Ablate, MaskEdge, Uniform
from inference.record import capture
from inference.record.edit_hooks import GROWS
from inference.runners.edit_batches import one_pass
from tests.inference.record.test_edit_hooks import output
from tests.support.architectures import EVERY_RECORDED, build, inputs
from tests.support.cases import loop_over

capture.install()
ONE_SIDED = [row for row in EVERY_RECORDED if row.kind in ("encoder", "decoder")]
SETS = [(Ablate(1, 2),), (), (Ablate(0, 1),), (MaskEdge(1, 0, 4, 2), Ablate(1, 1)), (Uniform(0, 0), Ablate(1, 0)), ()]


@pytest.mark.slow
@loop_over("row", ONE_SIDED, ids=[row.name for row in ONE_SIDED])
def test_growing_equals_one_by_one(row: Any) -> None:
    model, given = build(row, capture.NAME), inputs(row)
    capture.prepare(model)
    assert getattr(model, GROWS, None) == model.config.num_hidden_layers
    with torch.inference_mode():
        grown = one_pass(model, given, SETS)[0]
    assert grown.shape[0] == len(SETS)
    for mine, found in zip(SETS, grown, strict=True):
        torch.testing.assert_close(found, output(model, given, [mine])[0], atol=1e-5, rtol=0)


def test_a_model_of_two_sides_does_not_grow() -> None:
    row = next(row for row in EVERY_RECORDED if row.name == "Marian")
    model = build(row, capture.NAME)
    capture.prepare(model)
    assert not hasattr(model, GROWS)


def test_models_that_grow_still_answer_as_before() -> None:
    row = EVERY_RECORDED[0]
    given = inputs(row)
    model, plain = build(row, capture.NAME), build(row, "sdpa")
    capture.prepare(model)
    with torch.inference_mode():
        torch.testing.assert_close(model(**given)[0], plain(**given)[0], atol=1e-5, rtol=0)
