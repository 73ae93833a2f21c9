"""A forward pass in which intermediate values are changed; the model itself computes all later stages.

Edits and patches use the same code as all other requests, so an equal change has an equal effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention.edits import PatchResidual
from attention.stages.terms import array_index, flat
from i18n import gettext_lazy
from inference.anatomy.numpy_pass import numpy_of
from inference.anatomy.program import Array, FunctionCall
from inference.anatomy.stages import is_stage
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record.edit_hooks import apply_edits
from inference.record.patching import DonorHook, Notes, PatchHook, RecipientHook, donor_set, patch_activations
from inference.runners.edit_batches import Set, refuse_unfit, split_patches
from inference.runners.whole_pass import names_of, prepare_inputs, run_calls
from inference.tasks.whole_pass import ChangeRequest, ChangeResult, End

TOP = 6  # largest outputs of either pass that are reported

Inputs = Mapping[str, Tensor]


def answer(loaded: LoadedModel, question: ChangeRequest) -> ChangeResult:
    """Return the outputs of the forward pass before and after a change.

    Raise UserError if the stage or the place does not exist.
    """
    _, given = prepare_inputs(loaded, question)
    other = prepare_inputs(loaded, replace(question, text=question.lender))[1] if question.lender else None
    if question.edits:
        refuse_unfit(loaded.model, question.edits, _tokens(given, cross="decoder"), _tokens(given, cross="encoder"),
                     {} if other is None else _tokens(other, cross="decoder"))  # fmt: skip
    with as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    ):
        before = final_output(loaded.model, given)
        after, changed = (
            (output_under_edits(loaded.model, given, question.edits, other), 0)
            if question.edits
            else from_stage(loaded.model, given, question, other)
        )
    one, two = (rows[min(question.at, len(rows) - 1)] for rows in (flat(before), flat(after)))
    told = list(dict.fromkeys(at for end in (one, two) for at in np.argsort(-end, kind="stable")[:TOP].tolist()))
    names = names_of(loaded, told, len(one)) or [str(at) for at in told]
    ends = [End(name, float(one[at]), float(two[at])) for at, name in zip(told, names, strict=True)]
    return ChangeResult(tuple(ends), changed, float(np.abs(one - two).max()))


def final_output(
    model: Any, given: Inputs, change: Callable[[FunctionCall, Tensor], None] = lambda _call, _result: None
) -> Array:
    """Return the output of a pass; ``change`` may modify the result of any stage in place.

    A stage is a torch call that computes new numbers; the output is the result of the last stage.
    """
    last: list[Tensor] = []

    def observe(call: FunctionCall, _args: Any, _named: Any, result: Tensor) -> None:
        if is_stage(call):
            change(call, result)
            last[:] = [result]

    run_calls(model, given, observe)
    return numpy_of(last[0])


def output_under_edits(model: Any, given: Inputs, mine: Set, other: Inputs | None = None) -> Array:
    """Return the output of the last stage of a pass under the edits and patches ``mine``.

    ``other`` is the input of the donor pass, from which the patches take their activations.
    """
    changes, takes = split_patches(mine)
    notes: Notes = {}
    if takes and other is not None:
        with patch_activations(model, [donor_set(takes)], DonorHook(notes)), torch.inference_mode():
            model(**other)
    with ExitStack() as stack:
        stack.enter_context(apply_edits(model, [changes]))
        stack.enter_context(patch_activations(model, [takes], RecipientHook(notes)))
        return final_output(model, given)


def from_stage(model: Any, given: Inputs, question: ChangeRequest, other: Inputs | None = None) -> tuple[Array, int]:
    """Return the model's output after a change of some numbers of a stage, and how many numbers changed.

    A stage is a torch call of the forward pass. Its numbers become ``question.to``, or those of the same stage for the
    input ``other`` if it is given. Raise UserError if the pass lacks the stage.
    """
    changed: list[int] = []
    lender = None if other is None else RecipientHook(_record_donor(model, other, question))

    def change(call: FunctionCall, result: Tensor) -> None:
        if call.number == question.stage:
            spot = _changed_index(question, tuple(result.shape))
            before = result[spot].clone()
            result[spot] = question.to if lender is None else _apply_hook(lender, result, question)[spot]
            changed.append(int((result[spot] != before).sum()))

    after = final_output(model, given, change)
    if not changed:
        raise UserError(f"Stage {question.stage} was asked for; this pass has none of that number.")
    return after, changed[0]


def _record_donor(model: Any, other: Inputs, question: ChangeRequest) -> Notes:
    """Return the values of the stage in the donor pass; raise UserError if the pass lacks the stage."""
    notes: Notes = {}

    def note(call: FunctionCall, result: Tensor) -> None:
        if call.number == question.stage:
            _apply_hook(DonorHook(notes), result, question)

    final_output(model, other, note)
    if not notes:
        raise UserError(
            gettext_lazy("The pass over the other text has no stage {stage}.", stage=question.stage), way_out="text"
        )
    return notes


def _apply_hook(lender: PatchHook, result: Tensor, question: ChangeRequest) -> Tensor:
    """Return the stage's result after the hook, which treats its tokens like the input of a layer.

    Raise UserError if the result has no row for each token, or if the rows of the two texts differ in length.
    """
    take = PatchResidual(
        question.stage, question.pairs
    )  # the number of the stage replaces that of the layer, as this pass has no other patch
    rows = result.movedim(-2, 0) if result.ndim > 1 else result[None]
    side = isinstance(lender, DonorHook)
    if not take.pairs or max(pair[side] for pair in take.pairs) >= len(rows):
        raise UserError(
            gettext_lazy("This stage has no row per token, so it cannot be patched. Pick another."),
            way_out="text",
        )
    if isinstance(lender, RecipientHook) and lender.notes[(take,), take, 0].shape[1:] != rows.shape[1:]:
        raise UserError(
            gettext_lazy("At this stage, both texts need equally many tokens. Change the donor text."),
            way_out="text",
        )
    other = lender.apply(rows, (take,), take)
    return result if other is None else other.movedim(0, -2) if result.ndim > 1 else other[0]


def _tokens(given: Inputs, cross: str) -> dict[str, int]:
    """Return the number of tokens of each stack; ``cross`` names the side counted for cross-attention."""
    sides = {"encoder": given["input_ids"].shape[1]}
    sides["decoder"] = given.get("decoder_input_ids", given["input_ids"]).shape[1]
    return {**sides, "cross": sides[cross]}


def _changed_index(question: ChangeRequest, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the index of the part of a result that is changed; raise UserError if it does not exist."""
    if question.row is None:
        return (...,)
    rows, columns = np.prod(shape[-2:-1], dtype=int), np.prod((*shape[:-2], shape[-1]), dtype=int)
    if not (0 <= question.row < rows and 0 <= (question.column or 0) < columns):
        raise UserError(
            f"Row {question.row}, number {question.column or 0} was asked for; the stage has {rows} rows of {columns}."
        )
    if question.column is not None:
        return array_index(shape, question.row, question.column)
    return (...,) if len(shape) == 1 else (..., question.row, slice(None))
