"""The stages of a forward pass: the torch calls that compute new numbers, with their roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from i18n import format_comma_list
from inference.anatomy.module_roles import table_name
from inference.anatomy.program import FunctionCall, Value, required_calls
from inference.anatomy.watched_pass import LayerRun, is_inside, is_norm
from inference.tasks.anatomy import TOKENS
from inference.tasks.whole_pass import (
    ACTIVATED,
    ATTENTION,
    CROSS,
    EMBEDDINGS,
    FORWARD,
    HEAD,
    HIDDEN,
    KEYS,
    NORM,
    OUT,
    POOLER,
    PROBABILITIES,
    QUERIES,
    RESIDUAL,
    SCALE,
    VALUES,
    WEIGHED,
    Stage,
)

KINDS = {"norm": NORM, "attention": ATTENTION, "cross-attention": CROSS, "feed-forward": FORWARD, "scale": SCALE}
MATRIX = ("linear", "addmm", "matmul", "_grouped_mm")
ATTEND = "scaled_dot_product_attention"


def is_stage(call: FunctionCall) -> bool:
    """Return True if a torch call is a stage: it computes floating-point numbers that depend on weights."""
    return call.grown and not call.moves and call.fractions


def stages(
    model: Any, calls: Sequence[FunctionCall], layers: Sequence[LayerRun], sides: Mapping[str, str]
) -> tuple[Stage, ...]:
    """Return the stages of a forward pass in order: the calls that compute new numbers for its output.

    ``layers`` are the runs of layers in the pass. ``sides`` maps the path of each module list of layers to "encoder" or
    "decoder".
    """
    found = [call for call in required_calls(last_stage(calls)) if is_stage(call)]
    by_run = _runs(layers)
    parts: list[str] = []
    standing: dict[int, object] = {}  # the layer and part of each earlier stage
    for at, call in enumerate(found):
        block = None if call.layer is None else by_run[call.layer]
        before = parts[-1] if parts else EMBEDDINGS
        part = _part_outside_layers(model, found, at) if block is None else _part_in_layer(call, block, before)
        parts.append(RESIDUAL if _joins(call, (call.layer, part), standing) else part)
        standing[call.number] = (call.layer, parts[-1])
    names = _roles(model, found, parts)
    return tuple(
        _stage(call, parts[at], names.get(call.number, ""), _side(found, at, sides)) for at, call in enumerate(found)
    )


def _stage(call: FunctionCall, part: str, role: str, side: str) -> Stage:
    read, led = sources(call), required_calls(call, enough=is_stage)
    own = [one for one in led if one is call or not is_stage(one)]
    return Stage(
        number=call.number,
        formula=call.name,
        side=side,
        layer=None if call.layer is None else call.layer[1],
        part=part,
        role=role,
        path=call.path,
        weights=tuple(dict.fromkeys(value.weight for value in read if value.weight)),
        reads=tuple(dict.fromkeys(value.call.number for value in read if value.call is not None and value.grown)),
        shape=call.shape,
        lines=tuple(one.line for one in own),
        away=call.away,
        size=call.size,
        refused=next((one.refused for one in own if one.grown and one.refused), ""),
    )


def sources(call: FunctionCall) -> list[Value]:
    """Return the tensors that a torch call reads, traced back through calls that only move numbers.

    Reshapes and slices are such calls.
    """
    found: list[Value] = []
    waiting = call.reads()[::-1]
    while waiting:
        value = waiting.pop()
        if value.call is not None and value.grown and not is_stage(value.call):
            waiting.extend(value.call.reads()[::-1])
        else:
            found.append(value)
    return found


def last_stage(calls: Sequence[FunctionCall]) -> FunctionCall:
    """Return the last stage of a pass: the last of its calls that computes new numbers."""
    return next(call for call in reversed(calls) if is_stage(call))


def _runs(layers: Sequence[LayerRun]) -> dict[tuple[str, int], LayerRun]:
    """Index the layers by their module list and the number of the run in that list."""
    found: dict[tuple[str, int], LayerRun] = {}
    for block in layers:
        run = sum(stack == block.stack for stack, _ in found)
        found[block.stack, run] = block
    return found


def _part_in_layer(call: FunctionCall, block: LayerRun, before: str) -> str:
    """Return a call's part of the layer: that of its module, else the previous part unless that is a norm."""
    placed = [
        (len(visit.path), KINDS[operation.kind])
        for operation in block.operations
        for visit in operation.modules
        if visit.path and is_inside(call.path, visit.path)
    ]
    placed += [(len(op.core), KINDS[op.kind]) for op in block.operations if op.core and is_inside(call.path, op.core)]
    if placed:
        return max(placed)[1]
    return RESIDUAL if before in (EMBEDDINGS, RESIDUAL, NORM) else before


def _joins(call: FunctionCall, here: object, standing: Mapping[int, object]) -> bool:
    """Return True if a call in a layer adds a part's result to a value from before that part."""
    if call.name != "add" or call.layer is None:
        return False
    makers = [value.call for value in sources(call) if value.call is not None and value.grown]
    read = [standing[maker.number] == here for maker in makers]
    return any(read) and not all(read)


def _part_outside_layers(model: Any, found: Sequence[FunctionCall], at: int) -> str:
    """Return the part of a call outside of the layers; a decoder begins with its first embedding."""
    call = found[at]
    ran = [k for k in range(at) if found[k].layer is not None]
    since = found[ran[-1] : at] if ran else []
    if call.name == "softmax" and not call.path and call is found[-1]:
        return PROBABILITIES
    normed = is_norm(model.get_submodule(call.path))
    if any(later.layer is not None for later in found[at:]):
        begins = not ran or any(one.name == "embedding" for one in (*since, call))
        return NORM if normed and not begins else EMBEDDINGS
    if "pooler" in call.path:
        return POOLER
    return NORM if normed and not any(one.layer is None and one.name in MATRIX for one in since) else HEAD


def _side(found: Sequence[FunctionCall], at: int, sides: Mapping[str, str]) -> str:
    """Return the side of a stage's layer; for embeddings the next layer's, for a head the last layer's."""
    call = found[at]
    if call.layer is not None:
        return sides[call.layer[0]]
    for one in found[at:]:
        if one.layer is not None:
            return sides[one.layer[0]]
    return next(sides[one.layer[0]] for one in reversed(found[:at]) if one.layer is not None)


def _roles(model: Any, found: Sequence[FunctionCall], parts: Sequence[str]) -> dict[int, str]:
    """Return the roles of stages inside their parts, by call number."""
    part_of = {call.number: part for call, part in zip(found, parts, strict=True)}
    names: dict[int, str] = {}
    for call in found:
        weighed = _attention_inputs(call, part_of)
        if weighed:
            names[call.number] = WEIGHED
            for role, value in zip((QUERIES, KEYS, VALUES), weighed, strict=False):
                for maker in _makers(value, part_of, part_of[call.number]):
                    known = names.get(maker.number, "")
                    names[maker.number] = format_comma_list((known, role)) if known and role not in known else role
        elif call.name == "embedding" and part_of[call.number] == EMBEDDINGS:
            mine = model.get_submodule(call.path)
            names[call.number] = TOKENS if mine is model.get_input_embeddings() else table_name(call.path)
    for run in _spans(found, parts):
        matrices = [call for call in run if call.name in MATRIX]
        after = [call for call in run if names.get(call.number) == WEIGHED]
        if part_of[run[0].number] == FORWARD and len(matrices) > 1:
            names.update((call.number, HIDDEN) for call in matrices[:-1])
            names.update((v.call.number, ACTIVATED) for v in sources(matrices[-1]) if v.call in run)
            names[matrices[-1].number] = OUT
        if after and matrices and matrices[-1].number > after[-1].number:
            names[matrices[-1].number] = OUT
    return names


def _attention_inputs(call: FunctionCall, part_of: Mapping[int, str]) -> list[Value]:
    """Return the queries, keys and values of an attention call, or an empty list.

    The call is a fused attention or the product of weights and values.
    """
    if call.name == ATTEND:
        return call.reads()
    if call.name != "matmul" or part_of[call.number] not in (ATTENTION, CROSS):
        return []
    shares, values = call.reads()[0], call.reads()[-1]
    part = part_of[call.number]
    scores = [one for made in _softmax(shares) for one in _makers(made.reads()[0], part_of, part)]
    return [*scores[0].reads()[:2], values] if scores else []


def _softmax(value: Value) -> list[FunctionCall]:
    """Return the softmax call behind a value, if only moves lie between; at most one entry."""
    while value.call is not None and value.call.grown and value.call.moves:
        value = value.call.reads()[0]
    return [value.call] if value.call is not None and value.call.name == "softmax" else []


def _makers(value: Value, part_of: Mapping[int, str], part: str) -> list[FunctionCall]:
    """Return the matrix products of a part from which a value is computed."""
    waiting, found = [value], list[FunctionCall]()
    while waiting:
        call = waiting.pop().call
        if call is None or not call.grown or (is_stage(call) and part_of.get(call.number) != part):
            continue
        if call.name in MATRIX:
            found.append(call)
        else:
            waiting.extend(call.reads())
    return found


def _spans(found: Sequence[FunctionCall], parts: Sequence[str]) -> list[list[FunctionCall]]:
    """Group consecutive stages of the same layer and part."""
    spans: list[list[FunctionCall]] = []
    last: object = None
    for call, part in zip(found, parts, strict=True):
        if (call.layer, part) != last:
            spans.append([])
        spans[-1].append(call)
        last = (call.layer, part)
    return spans
