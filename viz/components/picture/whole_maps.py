"""Whole maps of a picture's tokens as square-root bytes: of a head, or of all layers rolled out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.agreement import rollout, shares, with_residual
from attention.codec import frame
from attention.mask import FloatArray, Index
from attention.record import EVERYTHING, AnyRecord, Record


def head_map(records: Sequence[AnyRecord], layer: int, head: int, by: str = "head") -> FloatArray:
    """One head's map, (query, key) float32; ``by`` "norms" weighs it by values."""
    return every_row(records[layer].quick(), head, by)


def every_row(record: AnyRecord, head: int, by: str, rows: Index = EVERYTHING) -> FloatArray:
    """Where some tokens look in a head, (row, key) float32.

    ``by`` "norms": each weight times the length of the value that it weighs, as shares of the row: how much of what the
    head takes in comes from where (after arXiv:2004.10102, which takes the output's matrix in too).
    """
    weights = record.weights(head, rows)
    if by != "norms" or not isinstance(record, Record):
        return weights
    return shares(weights * np.linalg.norm(record.value[record.kv_head(head)], axis=1))


def in_every_head(records: Sequence[AnyRecord], facing: str, token: int, by: str) -> FloatArray:
    """Where a token looks in every head, (layer, head, key) float32; facing "in", who looks at it."""
    found = []
    for record in (one.quick() for one in records):
        if facing == "out":
            found.append([every_row(record, head, by, np.array([token]))[0] for head in range(record.heads)])
        elif by == "norms":
            found.append([every_row(record, head, by)[:, token] for head in range(record.heads)])
        else:
            column = np.array([token])
            found.append([record.weights(head, EVERYTHING, column)[:, 0] for head in range(record.heads)])
    return np.array(found, np.float32)


def rollout_map(records: Sequence[AnyRecord]) -> FloatArray:
    """What reaches each token of the last layer from each patch and token of the first, (query, key) float32.

    The mean over each layer's heads, half of it what a token hands on to itself (arXiv:2005.00928).
    """
    means = [sum(quick.weights(head) for head in range(quick.heads)) for quick in (one.quick() for one in records)]
    return rollout(with_residual(shares(np.stack(means).astype(np.float32))))


def encode_map(weights: FloatArray) -> bytes:
    """A map as a frame that picture_source.js reads."""
    return frame({}, {"map": (weights, "sqrt8")})
