"""Does a cross head pick source words one by one? One number, from its map of one translation alone."""

from __future__ import annotations

import numpy as np

from attention.mask import FloatArray
from attention.trace import Trace


def source_coverage(weights: FloatArray) -> FloatArray:
    """How much each source token gets from the step that gives it most, mean over source tokens: (..., step, source)
    to (...), 0 to 1.

    1 where every source token has a step that looks at nothing else. 1/n where all n get alike, and where one gets all:
    a head must both be peaked and leave no word out to come high.

    >>> one_by_one, one_takes_all = np.eye(2), np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> source_coverage(np.stack([one_by_one, one_takes_all, np.full((2, 2), 0.5)])).tolist()
    [1.0, 0.5, 0.5]
    """
    largest: FloatArray = weights.max(axis=-2).mean(axis=-1)
    return largest


def covering_heads(trace: Trace) -> FloatArray:
    """That number for every cross head, (layer, head) float32: special tokens of the source left out, and the step
    after the last written token too.

    Raises attention.record.Unavailable for a trace without cross-attention. A translation without a token, and a
    source of special tokens only, give 0 everywhere.
    """
    records = trace.records("cross")
    keys = np.flatnonzero(~np.array(trace.source.special))
    steps = max(0, records[0].queries - 1)
    if not steps or not len(keys):
        return np.zeros((len(records), records[0].heads), np.float32)
    rows = slice(0, steps)
    found = [
        [source_coverage(record.weights(head, rows)[:, keys]) for head in range(record.heads)] for record in records
    ]
    return np.array(found, dtype=np.float32)
