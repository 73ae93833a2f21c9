"""A pass that goes on from changed numbers: everything after them is the model's own again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from torch import Tensor

from attention.stages.rows import flat, place_of
from inference.anatomy.calls import Array, Call
from inference.anatomy.computed_pass import numpy_of
from inference.anatomy.stages import is_stage
from inference.answers.whole_pass import followed, names_of, prepared
from inference.errors import Refusal, refusing
from inference.loaded import Loaded
from inference.questions.changed import Changed, End, Followed
from wording import sentence

TOP = 6  # ends of either pass that are told


def answer(loaded: Loaded, question: Changed) -> Followed:
    """How the pass ends, and how it ended before; raises Refusal for a stage or a place that there is not."""
    _, given = prepared(loaded, question)
    changed: list[int] = []

    def change(call: Call, result: Tensor) -> None:
        if call.number == question.stage:
            spot = _spot(question, tuple(result.shape))
            before = result[spot].clone()
            result[spot] = question.to if lent is None else _fitting(lent, result)[spot]
            changed.append(int((result[spot] != before).sum()))

    with refusing(sentence("{name} failed while its pass went on. Change the text or the model.", name=loaded.id.name)):
        lent = _lent(loaded, question) if question.lender else None
        before, after = (_end(loaded.model, given, each) for each in (lambda _call, _result: None, change))
    if not changed:
        raise Refusal(sentence("Stage {stage} was asked for; this pass has none of that number.", stage=question.stage))
    one, other = (rows[min(question.at, len(rows) - 1)] for rows in (flat(before), flat(after)))
    told = list(dict.fromkeys(at for end in (one, other) for at in np.argsort(-end, kind="stable")[:TOP].tolist()))
    names = names_of(loaded, told, len(one)) or [str(at) for at in told]
    ends = [End(name, float(one[at]), float(other[at])) for at, name in zip(told, names, strict=True)]
    return Followed(tuple(ends), changed[0], float(np.abs(one - other).max()))


def _end(model: Any, given: Mapping[str, Tensor], change: Callable[[Call, Tensor], None]) -> Array:
    """What the last stage gives, once ``change`` has had each stage's result in its hands."""
    last: list[Tensor] = []

    def seen(call: Call, _args: Any, _named: Any, result: Tensor) -> None:
        if is_stage(call):
            change(call, result)
            last[:] = [result]

    followed(model, given, seen)
    return numpy_of(last[0])


def _lent(loaded: Loaded, question: Changed) -> Tensor:
    """The stage's result in the pass over the other text."""
    _, given = prepared(loaded, replace(question, text=question.lender, pair=None))
    found: list[Tensor] = []

    def keep(call: Call, result: Tensor) -> None:
        if call.number == question.stage:
            found.append(result.clone())

    _end(loaded.model, given, keep)
    if not found:
        raise Refusal(
            sentence("The pass over the other text has no stage {stage}.", stage=question.stage), way_out="text"
        )
    return found[0]


def _fitting(lent: Tensor, result: Tensor) -> Tensor:
    """What is lent; raises Refusal where the two texts' results have other shapes."""
    if lent.shape != result.shape:
        one, other = (" × ".join(map(str, each.shape)) for each in (lent, result))
        raise Refusal(
            sentence(
                "The other text's result is {one} numbers and this one's {other}. Give a text with as many pieces.",
                one=one,
                other=other,
            ),
            way_out="text",
        )
    return lent


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
