"""Token attribution from attention: mean maps, attention rollout, vector norms and value zeroing.

Maps are (layer, query, key), the mean over the heads of a layer; rows sum to one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.mask import FloatArray
from attention.record import Record, attending_records
from attention.trace import Trace


def mean_maps(trace: Trace) -> FloatArray:
    """Return each layer's attention, the mean over its heads, (layer, query, key) float32.

    Rows are scaled to sum to one, which removes the share of attention sinks. Models without sinks already have such
    rows.
    """
    records = attending_records(trace.shares())
    means = [sum(record.weights(head) for head in range(record.heads)) / record.heads for record in records]
    return shares(np.stack(means).astype(np.float32))


def shares(values: FloatArray) -> FloatArray:
    """Scale each row of non-negative values (..., entry) to sum to one; rows of zeros stay zero.

    >>> shares(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    total = values.sum(axis=-1, keepdims=True)
    scaled: FloatArray = np.divide(values, total, out=np.zeros_like(values), where=total > 0)
    return scaled


def with_residual(maps: FloatArray) -> FloatArray:
    """Return half attention plus half identity, to account for the residual stream (arXiv:2005.00928).

    >>> with_residual(np.array([[[0.2, 0.8], [1.0, 0.0]]])).round(2).tolist()
    [[[0.6, 0.4], [0.5, 0.5]]]
    """
    mixed: FloatArray = 0.5 * maps + 0.5 * np.eye(maps.shape[-1], dtype=maps.dtype)
    return mixed


def rollout(mixed: FloatArray) -> FloatArray:
    """Return the attention rollout (query, key): the product of the maps over the layers.

    Entry (i, j) is the contribution of input token j to token i of the last layer. Rows sum to one if the rows of
    ``mixed`` (layer, query, key) sum to one (arXiv:2005.00928).

    >>> rollout(np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]])).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    reached: FloatArray = mixed[0]
    for layer in mixed[1:]:
        reached = layer @ reached
    return reached


def rollout_row(trace: Trace, query: int) -> FloatArray:
    """Return the attention rollout of a single query, (key,), with the residual stream included.

    The row is multiplied with the maps from the last layer down, so no two maps are multiplied. Each layer contributes
    half its mean map and half the identity.
    """
    records = trace.records()
    row: FloatArray = np.zeros(records[0].keys, dtype=np.float32)
    row[query] = 1
    for record in reversed(attending_records(records)):
        total: FloatArray = np.sum([record.weights(head) for head in range(record.heads)], axis=0, dtype=np.float32)
        row = np.float32(0.5) * (row + row @ shares(total))
    return row


def mean_row_distance(rows: FloatArray) -> float:
    """Return the mean total variation distance over all pairs of rows (query, key), 0 to 1.

    0 means that all rows are equal; 1 means that no two rows share a key.

    >>> mean_row_distance(np.array([[1.0, 0.0], [0.0, 1.0]])), mean_row_distance(np.array([[0.5, 0.5], [0.5, 0.5]]))
    (1.0, 0.0)
    """
    distances = 0.5 * np.abs(rows[:, None] - rows[None]).sum(axis=-1)
    pairs = ~np.eye(len(rows), dtype=bool)
    return float(distances[pairs].mean()) if len(rows) > 1 else 0.0


def norms(weights: FloatArray, values: FloatArray, output: FloatArray) -> FloatArray:
    """Return the norms ‖Σ_h α_h(i, j) · v_h(j) W_O,h‖, (query, key) (arXiv:2004.10102).

    ``weights`` is (head, query, key), ``values`` (head, key, channel) and ``output``, W_O, (head, channel, output).

    >>> norms(np.full((1, 1, 2), 0.5), np.array([[[3.0], [0.0]]]), np.array([[[0.0, 2.0]]])).tolist()
    [[3.0, 0.0]]
    """
    carried = np.einsum("hkc,hco->hko", values, output)
    added = np.einsum("hqk,hko->qko", weights, carried)
    sizes: FloatArray = np.linalg.norm(added, axis=-1)
    return sizes


def norms_of(record: Record, output: FloatArray, rows: slice) -> FloatArray:
    """Return the norms of a recorded layer for the query tokens ``rows``, (row, key); see ``norms``."""
    heads = range(record.heads)
    weights = np.stack([record.weights(head, rows) for head in heads])
    values = np.stack([record.value[record.kv_head(head)] for head in heads])
    return norms(weights, values, output)


def zeroing_rollout(distances: FloatArray) -> FloatArray:
    """Return the rollout of value-zeroing distances (layer, query, key), (query, key) (arXiv:2301.12971).

    Rows are scaled to sum to one. The distances include the residual stream already, so no identity is added. A token
    with distances of zero keeps its own contribution only.

    >>> zeroing_rollout(np.array([[[0.2, 0.2], [0.0, 0.0]], [[0.0, 0.1], [0.3, 0.1]]])).round(3).tolist()
    [[0.0, 1.0], [0.375, 0.625]]
    """
    scaled = shares(distances)
    still = distances.sum(axis=-1) == 0
    layers, tokens = np.nonzero(still)
    scaled[layers, tokens, tokens] = 1
    return rollout(scaled)


def over_words(values: FloatArray, words: Sequence[tuple[int, int]]) -> FloatArray:
    """Sum values of tokens (token,) over the tokens (start, stop) of each word, (word,).

    >>> over_words(np.array([1.0, 2.0, 4.0]), [(0, 1), (1, 3)]).tolist()
    [1.0, 6.0]
    """
    return np.array([values[start:stop].sum() for start, stop in words], dtype=values.dtype)
