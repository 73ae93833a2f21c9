"""Changes named by a stage of the pass or by layer and head of the model, with equal results."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from attention.edits import Ablate, PatchHead, PatchResidual
from inference.anatomy.program import FunctionCall
from inference.runners.changed_pass import final_output, from_stage, output_under_edits
from inference.runners.edit_batches import one_pass
from inference.runners.whole_pass import taken_apart
from inference.tasks.whole_pass import CROSS, WEIGHED, ChangeRequest, Stage
from tests.inference.record.test_edit_hooks import IDS, TEXTS, model_heads, ready
from tests.inference.record.test_patch_hooks import STREAMS, another, every
from tests.support.architectures import inputs
from tests.support.cases import loop_over

THREE = [row for row in TEXTS if row.name in ("BERT", "Llama", "T5")]


def of_part(stage: Stage, part: str) -> bool:
    """Return True if a stage of attention belongs to this part."""
    return not part or part == ("cross" if stage.part == CROSS else stage.side)


@pytest.mark.slow
@loop_over("row", TEXTS, ids=IDS)
def test_what_enters_a_layer_is_the_stage_before_it(row: Any) -> None:
    model, given, other = ready(row), inputs(row), another(row)
    _, stages = taken_apart(model, row.kind, given)
    for part in STREAMS.get(row.kind, ("",)):
        mine = [stage for stage in stages if not part or stage.side == part]
        for layer in range(2):
            first = next(at for at, stage in enumerate(mine) if stage.layer == layer)
            for pairs in (((2, 4),), every(part)):
                asked = ChangeRequest(stage=mine[first - 1].number, pairs=pairs)
                taken = output_under_edits(model, given, (PatchResidual(layer, pairs, part),), other)
                np.testing.assert_allclose(from_stage(model, given, asked, other)[0], taken, rtol=0, atol=1e-6)


@pytest.mark.slow
@loop_over("row", THREE, ids=[row.name for row in THREE])
def test_a_head_is_its_slice_of_the_weighed_values(row: Any) -> None:
    model, given, other = ready(row), inputs(row), another(row)
    _, stages = taken_apart(model, row.kind, given)
    weighed = [stage for stage in stages if stage.role == WEIGHED]
    assert weighed
    lent: dict[int, Tensor] = {}

    def lend(call: FunctionCall, result: Tensor) -> None:
        if any(call.number == stage.number for stage in weighed):
            lent[call.number] = result[:, 1].clone()

    final_output(model, other, lend)
    for stage in weighed:
        part = ("cross" if stage.part == CROSS else stage.side) if row.kind in STREAMS else ""

        def put(call: FunctionCall, result: Tensor, head: Any, at: int = stage.number) -> None:
            if call.number == at:
                result[:, 1] = head

        assert stage.layer is not None
        silent = output_under_edits(model, given, (Ablate(stage.layer, 1, part),))
        np.testing.assert_allclose(final_output(model, given, partial(put, head=0)), silent, rtol=0, atol=1e-6)
        taken = output_under_edits(model, given, (PatchHead(stage.layer, 1, every(part), part),), other)
        np.testing.assert_allclose(
            final_output(model, given, partial(put, head=lent[stage.number])), taken, rtol=0, atol=1e-6
        )


@loop_over("row", THREE, ids=[row.name for row in THREE])
def test_it_is_the_pass_that_the_comparison_makes(row: Any) -> None:
    """A watched pass with a single set of edits equals the same set in a batch of sets."""
    model, given, other = ready(row), inputs(row), another(row)
    part = STREAMS.get(row.kind, ("",))[-1]
    mine = (PatchResidual(1, ((2, 2),), part), Ablate(0, model_heads(model) - 1, part))
    with torch.inference_mode():
        output = one_pass(model, given, [(), mine], other)
    scores = output.get("logits")
    if scores is not None:
        expected = scores[1].softmax(-1).numpy()
        np.testing.assert_allclose(output_under_edits(model, given, mine, other)[0], expected, rtol=0, atol=2e-5)
