"""The same queries and keys under other rules: another divisor, another temperature, no mask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attention.mask import FloatArray, Mask
from attention.measures import as_shares, entropy
from attention.record import Record
from attention.walkthrough import Rows


def change_softmax_rules(
    record: Record, *, scale: float | None = None, temperature: float = 1.0, masked: bool = True
) -> Record:
    """The record under other rules; its weights are softmax(scores / temperature).

    ``scale`` replaces what the dot products are multiplied with, before bias and soft cap. With ``masked`` False every
    query looks at every key. Raises ValueError for a temperature that is not above zero.

    >>> one, two = np.ones((1, 1, 2), np.float32), np.array([[[0, 0], [1, 1]]], np.float32)
    >>> record = Record(one, two, two, scale=0.5, mask=Mask(1, 2))
    >>> change_softmax_rules(record, temperature=1e6).weights(0).round(2).tolist()
    [[0.5, 0.5]]
    """
    if not temperature > 0:
        raise ValueError(f"A temperature of {temperature} came; it divides the scores, so give one above 0.")
    return replace(
        record,
        scale=(record.scale if scale is None else scale) / temperature,
        bias=None if record.bias is None else record.bias / np.float32(temperature),
        # cap · tanh(s / cap) / T is the soft cap of s / T at cap / T.
        softcap=None if record.softcap is None else record.softcap / temperature,
        sinks=None if record.sinks is None else record.sinks / np.float32(temperature),
        mask=record.mask if masked else Mask(record.queries, record.keys),
        lse=None,
    )


def spreads(record: Record, rows: Rows) -> FloatArray:
    """Mean entropy of each head over some queries, (head,), in bits; of the shares that go to keys."""
    found: FloatArray = np.array(
        [entropy(as_shares(record.weights(head, rows))).mean() for head in range(record.heads)]
    )
    return found
