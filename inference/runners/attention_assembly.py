"""Reconstruction of an attention layer from module calls: projections, norms and residual sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attention.mask import FloatArray
from attention.record import Record
from attention.walkthrough import LayerParameters, Norm, Rotary
from i18n import gettext_lazy
from inference.runners.block_recorder import BlockRecorder, Event
from inference.runners.formulas import Linear, linear, norm
from inference.runners.projections import ROLES, FoundProjection, find

_NAMES = {"query": gettext_lazy("query"), "key": gettext_lazy("key"), "value": gettext_lazy("value")}


class UnsupportedAttention(ValueError):
    """Raised if an attention has another form; the message completes the sentence "The attention of … "."""


@dataclass(frozen=True, eq=False)
class AttentionParts:
    """The parameters, inputs, output and module names of an attention; arrays as in a LayerAnswer."""

    wiring: LayerParameters
    stream: FloatArray
    memory: FloatArray | None
    output: FloatArray
    names: dict[str, str]


@dataclass(frozen=True, eq=False)
class _End:
    """The path of W_O's output: its norm, the vectors added to it, the norm of the sum, and the result."""

    base: FloatArray | None  # None if it could not be identified
    after: Norm | None
    closing: Event | None
    ends: str
    output: FloatArray


def assemble(
    record: Record, watch: BlockRecorder, rotaries: Sequence[Rotary], factors: Sequence[float]
) -> AttentionParts:
    """Return the parameters of the watched attention, its inputs and its output.

    Raise UnsupportedAttention if it has another form.
    """
    earlier = [event for event in watch.events if event.after <= watch.wanted]
    later = [event for event in watch.events if event.after > watch.wanted]
    query, key, value = (_find_projection(role, record, earlier, rotaries, factors) for role in ROLES)
    if key.event.given.shape != value.event.given.shape or not is_equal(key.event.given, value.event.given):
        raise UnsupportedAttention(gettext_lazy("makes keys and values from different vectors"))
    vectors = query.event.given
    itself = is_equal(key.event.given, vectors)
    joined, product = _find_output_projection(record, later)
    entry = next((event for event in reversed(earlier) if is_equal(event.gave, vectors) and norm(event)), None)
    end = _find_layer_end(entry, vectors, joined, later[later.index(joined) + 1 :], watch.output)
    ahead = entry if entry is not None and (end.base is None or end.base is entry.given) else None
    heads, channels = record.heads, int(record.value.shape[2])
    wiring = LayerParameters(
        query=query.branch,
        key=key.branch,
        value=value.branch,
        output=np.ascontiguousarray(product.weight.reshape(heads, channels, -1)),
        output_bias=product.bias,
        before=None if ahead is None else norm(ahead),
        after=end.after,
        closing=None if end.closing is None else norm(end.closing),
        ends=end.ends,
    )
    calls = {"query": query.event, "key": key.event, "value": value.event, "output": joined}
    calls |= {} if ahead is None else {"before": ahead}
    calls |= {} if end.closing is None else {"closing": end.closing}
    names = {name: event.path for name, event in calls.items()}
    stream = vectors if ahead is None else ahead.given
    return AttentionParts(wiring, stream, None if itself else key.event.given, end.output, names)


def is_equal(one: FloatArray, other: FloatArray) -> bool:
    """Return True if two arrays are equal up to the rounding of a single sum."""
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-5, atol=1e-6)


def _find_projection(
    role: str, record: Record, earlier: Sequence[Event], rotaries: Sequence[Rotary], factors: Sequence[float]
) -> FoundProjection:
    found = find(role, record, earlier, rotaries, factors)
    if found is None:
        raise UnsupportedAttention(
            gettext_lazy("has no one matrix that makes its {role} vectors", role=_NAMES.get(role, role))
        )
    return found


def _find_output_projection(record: Record, later: Sequence[Event]) -> tuple[Event, Linear]:
    """Return W_O and its call: the first matrix after the attention that takes the concatenated heads."""
    width = record.heads * int(record.value.shape[2])
    for event in later:
        product = linear(event) if event.given.shape == (record.queries, width) else None
        if product is not None:
            return event, product
    raise UnsupportedAttention(gettext_lazy("has no one matrix that joins its heads"))


def _find_layer_end(
    entry: Event | None, vectors: FloatArray, joined: Event, later: Sequence[Event], block: FloatArray | None
) -> _End:
    """Return the path of W_O's output, with ``ends`` "output" if it cannot be identified."""
    settled = next((event for event in later if is_equal(event.given, joined.gave) and norm(event)), None)
    added = joined.gave if settled is None else settled.gave
    after = None if settled is None else norm(settled)
    # In a post-norm block, which ends in a norm, the residual stream is the output of a norm; otherwise it is a sum.
    closes = block is not None and any(is_equal(event.gave, block) and norm(event) for event in later)
    for base in (*(() if entry is None else (entry.given,)), vectors):
        total = base + added
        taker = next((event for event in later if is_equal(event.given, total)), None)
        if taker is not None and closes and norm(taker):
            return _End(base, after, taker, "norm", taker.gave)
        if taker is not None:
            return _End(base, after, None, "sum", taker.given)
        if block is not None and is_equal(block, total):
            return _End(base, after, None, "sum", block)
        if block is not None and any(is_equal(event.gave, block - total) for event in later):
            return _End(base, after, None, "beside", joined.gave)
    return _End(None, None, None, "output", joined.gave)
