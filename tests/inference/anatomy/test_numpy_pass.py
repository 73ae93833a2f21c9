"""The whole forward pass in numpy, from ids and weights only: every stage equals the model's stage."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from attention.stages import formulas
from inference.anatomy.numpy_pass import numpy_of
from inference.anatomy.program import FunctionCall, largest_difference
from inference.anatomy.stages import is_stage
from inference.record import capture
from inference.runners.whole_pass import expand_number, program, taken_apart
from inference.tasks.whole_pass import Opened, Origin
from tests.support.architectures import GROUPED, MAPS_ONLY, RECORDED, Architecture, build, inputs, named
from tests.support.cases import loop_over
from tests.support.hooks import hooks

capture.install()
TOLERANCE = 1e-5  # The tolerance is relative to a stage's largest value and includes the error of all earlier stages.
UNLISTED = [  # The code names none of these: parallel blocks, other norms and attentions, experts.
    Architecture("Cohere", "cohere", "decoder", GROUPED),
    Architecture("Granite", "granite", "decoder", GROUPED),
    Architecture("OLMo 2", "olmo2", "decoder", GROUPED),
    Architecture("Mixtral", "mixtral", "decoder", {**GROUPED, "num_local_experts": 4}),
]  # fmt: skip
EVERY = [*RECORDED, *MAPS_ONLY, *UNLISTED]
# Functions without a numpy formula, by architecture; all other stages of all architectures are computed.
BANDS = {"einsum"}  # Longformer's windows are overlapping views of the same memory.
REFUSED = {"SigLIP, vision": {"multi_head_attention_forward"}, "Longformer": BANDS, "LED": BANDS}


def readied(row: Architecture) -> Any:
    model = build(row, capture.NAME)
    capture.prepare(model)
    return model


@pytest.mark.slow
@loop_over("row", EVERY, ids=[row.name for row in EVERY])
def test_every_stage_is_computed_anew(row: Any) -> None:
    """Also, a random value of each stage is the sum of its terms, and its PyTorch lines reproduce it."""
    model, given = readied(row), inputs(row)
    noise = np.random.default_rng(0)
    own: dict[int, Tensor] = {}

    def seen(call: FunctionCall, args: Any, kwargs: Any, result: Tensor) -> None:
        if is_stage(call):
            own[call.number] = result.clone()
            place = tuple(int(noise.integers(size)) for size in call.shape)
            found = expand_number(call, args, kwargs, numpy_of(result), place, 3)
            adds_up(found, call)
            for origin in (origin for term in found.terms for origin in term.origins):
                stands(origin, own, model)

    calls, stages = taken_apart(model, row.kind, given, seen)
    assert {stage.formula for stage in stages if stage.refused} == REFUSED.get(row.name, set())
    for stage in stages:
        assert stage.refused or stage.away <= TOLERANCE * max(stage.size, 1e-3), stage
    assert sum(stage.size > 0 for stage in stages) > 20, "a pass of zeros would prove nothing"
    names = {"torch": torch, "F": torch.nn.functional, "p": model.get_parameter, "b": model.get_buffer, "given": given}
    with torch.inference_mode():
        exec(program(calls), names)
    torch.testing.assert_close(names[f"v{stages[-1].number}"], own[stages[-1].number], rtol=0, atol=1e-6)


def adds_up(found: Opened, call: FunctionCall) -> None:
    """Assert that the terms of a value add up to it within the rounding error of float32."""
    if abs(found.value) < 1e30:  # Values that a mask has set are skipped.
        largest_term = max((abs(term.value) for term in found.terms), default=0.0)
        assert found.total == pytest.approx(found.value, abs=1e-5 * max(largest_term, call.size, 1e-3)), call.line
        shown = sum(term.value for term in found.terms) + found.rest
        assert shown == pytest.approx(found.total, abs=1e-9 + 1e-12 * abs(found.total))


def stands(origin: Origin, own: Mapping[int, Tensor], model: Any) -> None:
    """Assert that an origin's value is at its stated place in an earlier stage or in a weight."""
    assert bool(origin.place) == (origin.stage is not None or bool(origin.weight))
    if origin.stage is not None:
        assert float(own[origin.stage][origin.place]) == origin.value
    if origin.weight:
        assert float(model.get_parameter(origin.weight)[origin.place]) == origin.value


@loop_over("name", ["BERT", "ALBERT", "GPT-2", "Llama", "GPT-NeoX", "Gemma 2", "Marian", "gpt-oss"])
def test_each_stage_s_own_lines_lead_to_it_from_those_that_it_reads(name: Any) -> None:
    """The code shown for a stage, run on the outputs of earlier stages, gives the output of the stage."""
    row = named(name)
    model, given = readied(row), inputs(row)
    own: dict[int, Tensor] = {}
    gave: dict[int, Any] = {}

    def seen(call: FunctionCall, _args: Any, _named: Any, result: Tensor) -> None:
        own[call.number] = gave[call.number] = result.clone()

    _, stages = taken_apart(model, row.kind, given, seen)
    for stage in stages:
        names: dict[str, Any] = {f"v{number}": gave[number] for number in stage.reads}
        names |= {"torch": torch, "F": torch.nn.functional, "given": given}
        names |= {"p": model.get_parameter, "b": model.get_buffer}
        with torch.inference_mode():
            exec("\n".join(stage.lines), names)
        made = names[f"v{stage.number}"]
        gave[stage.number] = made
        first = made[0] if isinstance(made, tuple) else made  # Of a pair (values, indices), compare the values.
        torch.testing.assert_close(first, own[stage.number], rtol=0, atol=1e-6)


def test_a_wrong_formula_is_noticed_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later stages continue from the model's own values, so only a single stage is reported."""
    monkeypatch.setitem(formulas.FORMULAS, "gelu", lambda x: np.maximum(x, 0))
    row = named("BERT")
    _, stages = taken_apart(readied(row), row.kind, inputs(row))
    assert {stage.formula for stage in stages if stage.refused} == {"gelu"}
    assert "differs from its formula" in next(stage.refused for stage in stages if stage.refused)
    assert all(stage.away <= TOLERANCE * stage.size for stage in stages if not stage.refused)


def test_what_has_no_formula_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(formulas.FORMULAS, "tanh")
    row = named("BERT")
    _, stages = taken_apart(readied(row), row.kind, inputs(row))
    assert [stage.refused for stage in stages if stage.refused] == ["torch's tanh has no formula here"]


def test_other_threads_calls_are_not_taken_for_this_one_s() -> None:
    row = named("BERT")
    model, given = readied(row), inputs(row)
    before, stop = hooks(model), threading.Event()
    alone = program(taken_apart(model, row.kind, given)[0])

    def others() -> None:
        with torch.inference_mode():
            while not stop.is_set():
                model(**inputs(row, (9,)))

    thread = threading.Thread(target=others)
    thread.start()
    try:
        for _ in range(3):
            assert program(taken_apart(model, row.kind, given)[0]) == alone
    finally:
        stop.set()
        thread.join()
    assert hooks(model) == before


def test_the_largest_difference_passes_over_what_a_mask_hides() -> None:
    assert largest_difference(np.array([1.0, -np.inf, 3.0]), np.array([1.0, -np.inf, 3.5])) == (0.5, 3.5)
    lowest = float(np.finfo(np.float32).min)
    assert largest_difference(np.array([lowest, 2.0]), np.array([lowest, 2.25])) == (0.25, 2.25)
    assert largest_difference(np.array([1.0]), np.array([-np.inf]))[0] == np.inf
    assert largest_difference(np.zeros(0), np.zeros(0)) == (0.0, 0.0)
