"""The stages of a forward pass: their formulas and inputs, their results, and the terms of a single number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention.stages.terms import Factor, origin, terms
from i18n import gettext_lazy
from inference.anatomy.numpy_pass import Seen, as_numpy, compute, numpy_of
from inference.anatomy.program import MASKED, Array, FunctionCall, Value, header, leaves, map_leaves, required_calls
from inference.anatomy.stages import is_stage, last_stage, stages
from inference.anatomy.watched_pass import blocks, watch
from inference.errors import UserError, as_user_error, too_many_tokens
from inference.loaded_model import LoadedModel
from inference.runners.anatomy import side_of
from inference.runners.blanks import display_pieces, read, tensors
from inference.task_heads import CLASSES
from inference.tasks.model_request import Answer
from inference.tasks.whole_pass import (
    OneNumber,
    Opened,
    Origin,
    PassOverview,
    PassRequest,
    Place,
    Stage,
    StageNumbers,
    StageResults,
    Term,
    WholePass,
)

# Outcomes of a head that judges two texts, by the suffix of its class; the second suffix is ALBERT's sentence order.
JUDGED = {
    "ForNextSentencePrediction": (gettext_lazy("the second follows"), gettext_lazy("the second is from elsewhere")),
    "ForPreTraining": (gettext_lazy("in their order"), gettext_lazy("swapped")),
}
LONGEST = 512  # tokens; every head's map of tokens² weights is computed


def answer(loaded: LoadedModel, question: WholePass) -> PassOverview:
    """Return the stages of a forward pass, without the numbers of their results.

    Raise UserError if the text is too long or the layers cannot be identified.
    """
    ids, given = prepare_inputs(loaded, question)
    with as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    ):
        spread: dict[int, Array] = {}
        calls, found = taken_apart(loaded.model, loaded.id.kind, given, partial(_note, spread))
    kept = {stage.number: spread[stage.number] for stage in found}
    last = f"v{last_stage(calls).number}"
    whole = f"{header(loaded, question.model, given)}{program(calls)}print({last})  # what the pass ends with\n"
    return PassOverview(ids, found, kept, whole, last)


def _note(spread: dict[int, Array], call: FunctionCall, _args: Any, _named: Any, result: Tensor) -> None:
    """Store the root mean square of a call's result for each token, without masked values."""
    if call.fractions:
        rows = result if result.ndim > 1 else result.reshape(1, -1)
        flat = rows.movedim(-2, 0).flatten(1).clamp(-MASKED, MASKED)
        real = flat.abs() < MASKED
        spread[call.number] = ((flat * real).square().sum(1) / real.sum(1).clamp(min=1)).sqrt().numpy()


def program(calls: Sequence[FunctionCall]) -> str:
    """Return the lines of a PyTorch program that computes the last stage."""
    return "".join(f"{call.line}\n" for call in required_calls(last_stage(calls)))


def prepare_inputs(loaded: LoadedModel, question: PassRequest[Answer]) -> tuple[tuple[int, ...], dict[str, Tensor]]:
    """Return the token ids and the inputs of the model.

    Raise UserError if the text is too long, or if an encoder-decoder has no target text.
    """
    reading = read(loaded, question.text, question.pair, question.cut)
    if (tokens := max(len(reading.ids), len(question.target))) > LONGEST:
        raise too_many_tokens(tokens, LONGEST, way_out="text")
    given = tensors(loaded, reading)
    if loaded.id.kind == "encoder-decoder":
        if not question.target:
            raise UserError(
                gettext_lazy(
                    "{name} needs a second text. Give one.",
                    name=loaded.id.name,
                )
            )
        given["decoder_input_ids"] = torch.tensor([question.target])
    return reading.ids, given


def taken_apart(
    model: Any, kind: str, given: Mapping[str, Tensor], seen: Seen | None = None
) -> tuple[list[FunctionCall], tuple[Stage, ...]]:
    """Run a forward pass; return its torch calls, and those among them that compute new numbers (stages).

    ``kind`` is the kind of the model, such as "encoder". ``seen`` is called after every torch call that computes
    numbers. Raise UserError if the layers cannot be identified.
    """
    layers = blocks(model, watch(model))
    if not layers:
        raise UserError(
            gettext_lazy("The layers of {name} cannot be told apart. Pick another model.", name=type(model).__name__)
        )
    paths = {block.path: block.stack for block in layers}
    calls = compute(model, given, paths, seen, _probabilities)
    sides = {block.stack: side_of(block, kind) for block in layers}
    return calls, stages(model, calls, layers, sides)


def run_calls(model: Any, given: Mapping[str, Tensor], seen: Seen) -> None:
    """Run a pass and call ``seen`` with each torch call, up to the probabilities; compute nothing in NumPy."""
    compute(model, given, {}, seen, _probabilities, formulas={})


def _probabilities(output: Any) -> None:
    """Compute the softmax of the head's scores in the same pass; a model without a head has none."""
    scores = next((output[name] for name in ("logits", "sop_logits") if output.get(name) is not None), None)
    if scores is not None:
        torch.softmax(scores, -1)


def names_of(loaded: LoadedModel, told: Sequence[int], count: int) -> Sequence[str] | None:
    """Return the names of the entries ``told`` (indices) of a result: tokens or classes.

    ``count`` is the number of all entries of the result. Return None if it equals neither the size of the vocabulary
    nor the number of classes.
    """
    model = loaded.model
    head = model.get_output_embeddings()
    if head is not None and count == head.weight.shape[0]:
        return display_pieces(loaded, told)
    if type(model).__name__.endswith(tuple(CLASSES.values())) and count == model.config.num_labels:
        return [str(model.config.id2label[one]) for one in told]
    judges = next((JUDGED[ending] for ending in JUDGED if type(model).__name__.endswith(ending)), None)
    return [judges[one] for one in told] if judges is not None and count == len(judges) else None


TOP = 16  # tokens named for each row


def number_stage(loaded: LoadedModel, question: StageNumbers) -> StageResults:
    """Return the results of the requested stages; raise UserError if a stage does not exist."""
    _, given = prepare_inputs(loaded, question)
    found: dict[int, Array] = {}

    def observe(call: FunctionCall, _args: Any, _named: Any, result: Tensor) -> None:
        if call.number in question.stages:
            kept = numpy_of(result).copy()
            kept.setflags(write=False)
            found[call.number] = kept

    with as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    ):
        run_calls(loaded.model, given, observe)
    missing = sorted(set(question.stages) - set(found))
    if missing:
        raise UserError(f"Stage {missing[0]} was asked for; this pass has none of that number.")
    return StageResults(
        found, {token: piece for array in found.values() for token, piece in _largest_entries(loaded, array)}
    )


def _largest_entries(loaded: LoadedModel, array: Array) -> list[tuple[int, str]]:
    """Return index and name of the largest entries of each row, if the rows are over tokens or classes."""
    count = array.shape[-1]
    if names_of(loaded, [], count) is None:
        return []
    rows = array.reshape(-1, count)
    top = np.unique(np.argpartition(-rows, min(TOP, count) - 1, axis=1)[:, :TOP]).tolist()  # no full sort
    return list(zip(top, names_of(loaded, top, count) or (), strict=True))


def open_number(loaded: LoadedModel, question: OneNumber) -> Opened:
    """Return the largest terms of a number in a stage's result; raise UserError if the number does not exist."""
    _, given = prepare_inputs(loaded, question)
    found: list[Opened] = []

    def observe(call: FunctionCall, args: tuple[Any, ...], named: dict[str, Any], result: Tensor) -> None:
        if call.number == question.stage:
            found.append(expand_number(call, args, named, numpy_of(result), question.place, question.top))

    with as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    ):
        run_calls(loaded.model, given, observe)
    if not found:
        raise UserError(f"Stage {question.stage} was asked for; this pass has none of that number.")
    return found[0]


def expand_number(  # noqa: PLR0913  # a call with its arguments and result, and the requested terms
    call: FunctionCall, args: tuple[Any, ...], named: dict[str, Any], gave: Array, place: Place, top: int
) -> Opened:
    """Return the number at index ``place`` of a torch call's result, with its ``top`` largest terms.

    The number is the sum of its terms. ``args`` and ``named`` are the arguments of the call, and ``gave`` is its
    result.
    """
    if len(place) != gave.ndim or not all(0 <= at < size for at, size in zip(place, gave.shape, strict=True)):
        raise UserError(
            "Place {place} was asked for; the stage's result is {shape}.".format(
                place=list(place), shape=" × ".join(map(str, gave.shape))
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
