"""A small watched pass: the order of modules, inputs and outputs, and formulas of activations and norms."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch
from transformers.activations import ACT2FN

from inference.anatomy.sizes import curve, kind_of_norm
from inference.anatomy.watched_pass import KEPT, blocks, is_inside, watch
from inference.record import capture
from tests.support.architectures import build, inputs, named
from tests.support.cases import loop_over
from tests.support.hooks import hooks


def ready(name: str) -> Any:
    capture.install()
    model = build(named(name), capture.NAME)
    capture.prepare(model)
    return model


def test_every_module_that_runs_is_seen_in_order() -> None:
    watched = watch(ready("BERT"), inputs(named("BERT")))
    paths = [visit.path for visit in watched.visits]
    order = [paths.index(f"encoder.layer.{part}") for part in ("0.attention.self.query", "0.attention.output.dense",
             "0.intermediate.dense", "0.output.LayerNorm", "1.attention.self.query")]  # fmt: skip
    assert order == sorted(order)
    assert all(visit.began < visit.ended for visit in watched.visits)
    assert [path for _, path in watched.softmaxes] == [f"encoder.layer.{at}.attention.self" for at in (0, 1)]


def test_what_is_noted_are_the_numbers_of_the_pass() -> None:
    model, given = ready("BERT"), inputs(named("BERT"))
    with torch.inference_mode():
        expected = model(**given).last_hidden_state.flatten()[:KEPT].numpy()
    watched = watch(model, given)
    last = next(visit for visit in watched.visits if visit.path == "encoder.layer.1.output.LayerNorm")
    np.testing.assert_allclose(last.made, expected, atol=1e-6)
    assert last.width == 24
    dense = next(visit for visit in watched.visits if visit.path == "encoder.layer.0.intermediate.dense")
    weight, bias = dense.module.weight.numpy(), dense.module.bias.numpy()
    np.testing.assert_allclose(dense.given.reshape(7, 24) @ weight.T + bias, dense.made.reshape(7, 32), atol=1e-5)


def test_no_hook_stays_and_other_threads_are_not_noticed() -> None:
    model, given = ready("GPT-2"), inputs(named("GPT-2"))
    model(**given)  # The first pass lets transformers register its own hooks.
    before = hooks(model)
    alone = len(watch(model, given).visits)
    seen: list[Any] = []
    module = model.h[0].mlp

    def other(*_: Any) -> None:
        if not seen:  # A single time, during the watched pass.
            seen.append(True)
            thread = threading.Thread(target=lambda: model(**given))
            thread.start()
            thread.join()

    handle = module.register_forward_pre_hook(other)
    try:
        assert len(watch(model, given).visits) == alone
    finally:
        handle.remove()
    assert hooks(model) == before


def test_a_layer_that_runs_twice_is_two_blocks() -> None:
    model = ready("ALBERT")
    found = blocks(model, watch(model))
    assert [block.path for block in found] == ["encoder.albert_layer_groups.0"] * 2
    assert found[0].visit.ended < found[1].visit.began


@pytest.mark.parametrize(("path", "above", "inside"), [("a.b", "a", True), ("ab", "a", False), ("a", "a", True)])
def test_under(path: str, above: str, inside: bool) -> None:
    assert is_inside(path, above) == inside


@loop_over(
    ("name", "formula"),
    [
        ("gelu", "GELU"),
        ("gelu_python", "GELU"),
        ("gelu_new", "GELU (tanh approximation)"),
        ("quick_gelu", "GELU (sigmoid approximation)"),
        ("silu", "SiLU"),
        ("relu", "ReLU"),
        ("relu2", "squared ReLU"),
        ("mish", ""),
    ],
)
def test_an_activation_is_told_by_its_values(name: str, formula: str) -> None:
    drawn = curve(ACT2FN[name])
    assert drawn is not None
    found, inputs, outputs = drawn
    assert found == formula
    assert outputs.shape == inputs.shape
    assert not outputs.flags.writeable


def test_what_is_no_function_of_single_numbers_has_no_curve() -> None:
    assert curve(torch.nn.Softmax(dim=-1)) is None
    assert curve(torch.nn.Linear(3, 4)) is None


def test_norms_are_told_by_what_they_ignore() -> None:
    assert kind_of_norm(torch.nn.LayerNorm(24), 24) == "LayerNorm"
    assert kind_of_norm(torch.nn.RMSNorm(24), 24) == "RMSNorm"
    assert kind_of_norm(torch.nn.LayerNorm(24), 12) == "", "it cannot be asked with another width"
