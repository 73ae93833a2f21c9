"""A pass that goes on from changed numbers: everything after them is the model's own again.

What is taken from another text is noted and put in as it is for the comparison of two texts, and heads are changed by
the same edits, so that both say the same of the same change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention.patches import TakeState
from attention.stages.rows import flat, place_of
from inference.anatomy.calls import Array, Call
from inference.anatomy.computed_pass import numpy_of
from inference.anatomy.stages import is_stage
from inference.answers.many_sets import Set, apart, refuse_unfit
from inference.answers.whole_pass import followed, names_of, prepared
from inference.errors import Refusal, refusing
from inference.loaded import Loaded
from inference.questions.changed import Changed, End, Followed
from inference.record.edits import editing
from inference.record.lending import lent
from inference.record.patches import Lender, Notes, Noting, Putting, bare
from wording import sentence

TOP = 6  # ends of either pass that are told

Inputs = Mapping[str, Tensor]


def answer(loaded: Loaded, question: Changed) -> Followed:
    """How the pass ends, and how it ended before; raises Refusal for a stage or a place that there is not."""
    _, given = prepared(loaded, question)
    other = prepared(loaded, replace(question, text=question.lender))[1] if question.lender else None
    if question.edits:
        refuse_unfit(loaded.model, question.edits, _tokens(given, cross="decoder"), _tokens(given, cross="encoder"),
                     {} if other is None else _tokens(other, cross="decoder"))  # fmt: skip
    with refusing(sentence("{name} failed while its pass went on. Change the text or the model.", name=loaded.id.name)):
        before = ended(loaded.model, given)
        after, changed = (
            (under(loaded.model, given, question.edits, other), 0)
            if question.edits
            else from_stage(loaded.model, given, question, other)
        )
    one, two = (rows[min(question.at, len(rows) - 1)] for rows in (flat(before), flat(after)))
    told = list(dict.fromkeys(at for end in (one, two) for at in np.argsort(-end, kind="stable")[:TOP].tolist()))
    names = names_of(loaded, told, len(one)) or [str(at) for at in told]
    ends = [End(name, float(one[at]), float(two[at])) for at, name in zip(told, names, strict=True)]
    return Followed(tuple(ends), changed, float(np.abs(one - two).max()))


def ended(model: Any, given: Inputs, change: Callable[[Call, Tensor], None] = lambda _call, _result: None) -> Array:
    """What the last stage gives, once ``change`` has had each stage's result in its hands."""
    last: list[Tensor] = []

    def seen(call: Call, _args: Any, _named: Any, result: Tensor) -> None:
        if is_stage(call):
            change(call, result)
            last[:] = [result]

    followed(model, given, seen)
    return numpy_of(last[0])


def under(model: Any, given: Inputs, mine: Set, other: Inputs | None = None) -> Array:
    """What the last stage gives under a set of edits, some of which may take from the pass over another text."""
    changes, takes = apart(mine)
    notes: Notes = {}
    if takes and other is not None:
        with lent(model, [bare(takes)], Noting(notes)), torch.inference_mode():
            model(**other)
    with ExitStack() as stack:
        stack.enter_context(editing(model, [changes]))
        stack.enter_context(lent(model, [takes], Putting(notes)))
        return ended(model, given)


def from_stage(model: Any, given: Inputs, question: Changed, other: Inputs | None = None) -> tuple[Array, int]:
    """What the last stage gives once one stage's numbers are others, and how many of them are."""
    changed: list[int] = []
    lender = None if other is None else Putting(_noted(model, other, question))

    def change(call: Call, result: Tensor) -> None:
        if call.number == question.stage:
            spot = _spot(question, tuple(result.shape))
            before = result[spot].clone()
            result[spot] = question.to if lender is None else _met(lender, result, question)[spot]
            changed.append(int((result[spot] != before).sum()))

    after = ended(model, given, change)
    if not changed:
        raise Refusal(sentence("Stage {stage} was asked for; this pass has none of that number.", stage=question.stage))
    return after, changed[0]


def _noted(model: Any, other: Inputs, question: Changed) -> Notes:
    """What the pass over the other text lends at the stage."""
    notes: Notes = {}

    def note(call: Call, result: Tensor) -> None:
        if call.number == question.stage:
            _met(Noting(notes), result, question)

    ended(model, other, note)
    if not notes:
        raise Refusal(
            sentence("The pass over the other text has no stage {stage}.", stage=question.stage), way_out="text"
        )
    return notes


def _met(lender: Lender, result: Tensor, question: Changed) -> Tensor:
    """The stage's result as a lender leaves it: token by token, as what enters a layer is lent."""
    take = TakeState(question.stage, question.pairs)  # the stage stands for the layer: no other is lent in this pass
    rows = result.movedim(-2, 0) if result.ndim > 1 else result[None]
    side = isinstance(lender, Noting)
    if not take.pairs or max(pair[side] for pair in take.pairs) >= len(rows):
        raise Refusal(
            sentence(
                "This stage has no row for each token, so nothing of it is taken from another text. Pick another."
            ),
            way_out="text",
        )
    if isinstance(lender, Putting) and lender.notes[(take,), take, 0].shape[1:] != rows.shape[1:]:
        raise Refusal(
            sentence("Here the two texts have rows of other lengths. Give a text with as many pieces."), way_out="text"
        )
    other = lender.meets(rows, (take,), take)
    return result if other is None else other.movedim(0, -2) if result.ndim > 1 else other[0]


def _tokens(given: Inputs, cross: str) -> dict[str, int]:
    """How many tokens each part has; ``cross`` is the side whose tokens are counted where the decoder looks across."""
    sides = {"encoder": given["input_ids"].shape[1]}
    sides["decoder"] = given.get("decoder_input_ids", given["input_ids"]).shape[1]
    return {**sides, "cross": sides[cross]}


def _spot(question: Changed, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The part of a result that is changed."""
    if question.row is None:
        return (...,)
    rows, columns = np.prod(shape[-2:-1], dtype=int), np.prod((*shape[:-2], shape[-1]), dtype=int)
    if not (0 <= question.row < rows and 0 <= (question.column or 0) < columns):
        raise Refusal(
            sentence(
                "Row {row}, number {column} was asked for; the stage has {rows} rows of {columns}.",
                row=question.row,
                column=question.column or 0,
                rows=rows,
                columns=columns,
            )
        )
    if question.column is not None:
        return place_of(shape, question.row, question.column)
    return (...,) if len(shape) == 1 else (..., question.row, slice(None))
