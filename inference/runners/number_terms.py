"""The terms of a single number of a pass, with the origin of each factor in the pass or in a weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import Tensor

from attention.stages.terms import Factor, origin, terms
from i18n import gettext_lazy
from inference.anatomy.numpy_pass import as_numpy, numpy_of
from inference.anatomy.program import Array, FunctionCall, Value, leaves, map_leaves
from inference.anatomy.stages import is_stage
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.runners.whole_pass import prepare_inputs, run_calls
from inference.tasks.whole_pass import OneNumber, Opened, Origin, Place, Term


def answer(loaded: LoadedModel, question: OneNumber) -> Opened:
    """Return the number's terms; raise UserError if the stage or the place does not exist."""
    _, given = prepare_inputs(loaded, question)
    found: list[Opened] = []

    def observe(call: FunctionCall, args: tuple[Any, ...], named: dict[str, Any], result: Tensor) -> None:
        if call.number == question.stage:
            found.append(expand_number(call, args, named, numpy_of(result), question.place, question.top))

    with as_user_error(
        gettext_lazy("{name} failed while its pass was taken apart. Change the text or the model.", name=loaded.id.name)
    ):
        run_calls(loaded.model, given, observe)
    if not found:
        raise UserError(
            gettext_lazy("Stage {stage} was asked for; this pass has none of that number.", stage=question.stage)
        )
    return found[0]


def expand_number(  # noqa: PLR0913  # a call with its arguments and result, and the requested terms
    call: FunctionCall, args: tuple[Any, ...], named: dict[str, Any], gave: Array, place: Place, top: int
) -> Opened:
    """Return the number at a place of a call's result, and its ``top`` largest terms."""
    if len(place) != gave.ndim or not all(0 <= at < size for at, size in zip(place, gave.shape, strict=True)):
        raise UserError(
            gettext_lazy(
                "Place {place} was asked for; the stage's result is {shape}.",
                place=list(place),
                shape=" × ".join(map(str, gave.shape)),
            )
        )
    given, options = map_leaves((args, named), as_numpy)
    arrays = [leaf for leaf in leaves((given, options)) if isinstance(leaf, np.ndarray) and leaf.ndim >= 0]
    made_by = {id(array): value for array, value in zip(arrays, call.reads(), strict=True)}
    found = terms(call.name, given, options, gave, place)
    order = np.argsort(-np.abs(found.values), kind="stable")
    shown = [
        Term(float(found.values[term]), tuple(_origin(one, made_by) for one in found.factors(int(term))))
        for term in order[:top]
    ]
    total = float(found.values.sum())
    rest = float(found.values[order[top:]].sum())
    return Opened(float(gave[place]), found.how, call.name, tuple(shown), max(0, len(order) - top), rest, total)


def _origin(factor: Factor, made_by: Mapping[int, Value]) -> Origin:
    """Return the origin of a factor, traced back through calls that only move numbers."""
    value = None if factor.of is None else made_by.get(id(factor.of))
    place = factor.at
    while value is not None and value.call is not None and value.grown and not is_stage(value.call):
        before = _origin_of_move(value.call, value.output, place)
        if before is None:
            return Origin(factor.value, name=factor.name)
        value, place = before
    if value is None:
        return Origin(factor.value, name=factor.name)
    if value.weight:
        return Origin(factor.value, weight=value.weight, place=place)
    if value.call is None or not value.grown:
        return Origin(factor.value, name="given")
    return Origin(factor.value, stage=value.call.number, place=place)


def _origin_of_move(call: FunctionCall, output: int, place: Place) -> tuple[Value, Place] | None:
    """Return the value and the place that a moved number comes from, or None if they cannot be found."""
    if not call.moves:
        return None
    standing: dict[int, Value] = {}

    def stand_in(leaf: Any) -> Any:
        """Return a placeholder of the same shape, since only the places of the numbers matter."""
        if not isinstance(leaf, Value):
            return as_numpy(leaf)
        array = np.broadcast_to(np.float32(0), leaf.shape) if leaf.array is None else leaf.array
        standing[id(array)] = leaf
        kept.append(array)
        return array

    kept: list[Array] = []  # keeps the arrays alive, so that their ids stay distinct
    given, named = map_leaves((call.given, call.named), stand_in)
    found = origin(call.name, given, named, output, place)
    return None if found is None or id(found[0]) not in standing else (standing[id(found[0])], found[1])
