"""The size that a trace reports: never less than the bytes that it keeps alive, also after lazy computation."""

from __future__ import annotations

import re
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pytest

from attention.mask import Mask
from attention.record import Unavailable
from attention.trace import Trace, without_attention
from tests.support.traces import hybrid_trace, numbers, record, sentence_trace, translation_trace


def held(trace: Trace) -> int:
    """Return the bytes of all arrays that the trace's records keep alive, each counted once."""
    found: dict[int, int] = {}
    pending: list[Any] = list(trace.parts.values())
    while pending:
        one = pending.pop()
        if isinstance(one, np.ndarray):
            found[id(one)] = one.nbytes
        elif is_dataclass(one):
            pending += vars(one).values()
        elif isinstance(one, dict):
            pending += one.values()
        elif isinstance(one, tuple):
            pending += one
    return sum(found.values())


def shared() -> Trace:
    extras = {"bias": numbers(1, 6, 6, seed=3), "sinks": numbers(3), "mask": Mask(6, 6, allowed=np.tri(6, k=1) > 0)}
    return sentence_trace(parts={"encoder": (record(6, 6, **extras), record(6, 6, seed=5, **extras))})


@pytest.mark.parametrize("make", [sentence_trace, translation_trace, shared])
def test_when_every_row_was_looked_at_it_holds_what_it_had_said(make: Any) -> None:
    trace = make()
    said, recorded = trace.nbytes, held(trace)
    for part, records in trace.parts.items():
        for layer, one in enumerate(records):
            for head in range(one.heads):
                trace.weights(layer, head, part)
    assert recorded < held(trace) == said == trace.nbytes


def test_a_layer_without_attention_is_named() -> None:
    trace = hybrid_trace()
    assert (trace.layers, trace.heads, trace.attending()) == (4, 3, (1, 3))
    assert trace.has_qkv()
    for asked in (trace.weights, trace.scores, trace.query, trace.value):
        with pytest.raises(Unavailable, match=re.escape(without_attention(2, (1, 3)))):
            asked(2, 0)
    assert trace.rows(0).shape == (4, 3, 6)
