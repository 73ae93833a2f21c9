"""Token attribution from attention: mean maps, attention rollout, vector norms and value zeroing.

Maps have the shape (layer, query, key) and are means over the heads of a layer; their rows sum to one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.mask import FloatArray
from attention.record import Record, attending_records
from attention.trace import Trace


def mean_maps(trace: Trace) -> FloatArray:
    """Return the mean attention map of each layer over its heads, shape (layer, query, key), float32.

    Each row is divided by its sum. This changes only models with attention sinks, whose rows sum to less than one.
    """
    records = attending_records(trace.shares())
    means = [sum(record.weights(head) for head in range(record.heads)) / record.heads for record in records]
    return shares(np.stack(means).astype(np.float32))


def shares(values: FloatArray) -> FloatArray:
    """Return non-negative values (..., entry), scaled to sum to one over the last axis; zeros stay zero.

    >>> shares(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    total = values.sum(axis=-1, keepdims=True)
    scaled: FloatArray = np.divide(values, total, out=np.zeros_like(values), where=total > 0)
    return scaled


def with_residual(maps: FloatArray) -> FloatArray:
    """Return (A + I) / 2 for each map A, which accounts for the residual stream (arXiv:2005.00928).

    >>> with_residual(np.array([[[0.2, 0.8], [1.0, 0.0]]])).round(2).tolist()
    [[[0.6, 0.4], [0.5, 0.5]]]
    """
    mixed: FloatArray = 0.5 * maps + 0.5 * np.eye(maps.shape[-1], dtype=maps.dtype)
    return mixed


def rollout(mixed: FloatArray) -> FloatArray:
    """Return the attention rollout, shape (query, key): the product of the maps of all layers.

    ``mixed`` (layer, query, key) are the maps, usually with the residual stream included (``with_residual``). Entry (i,
    j) of the result is the contribution of input token j to token i of the last layer (arXiv:2005.00928). Its rows sum
    to one if the rows of ``mixed`` do.

    >>> rollout(np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]])).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    reached: FloatArray = mixed[0]
    for layer in mixed[1:]:
        reached = layer @ reached
    return reached


def rollout_row(trace: Trace, query: int) -> FloatArray:
    """Return a single row of the attention rollout, shape (key,), with the residual stream included.

    The row is multiplied by the map of each layer, from the last to the first, which is cheaper than multiplying the
    maps. The map of a layer is (A + I) / 2, with the mean A over its heads.
    """
    records = trace.records()
    row: FloatArray = np.zeros(records[0].keys, dtype=np.float32)
    row[query] = 1
    for record in reversed(attending_records(records)):
        total: FloatArray = np.sum([record.weights(head) for head in range(record.heads)], axis=0, dtype=np.float32)
        row = np.float32(0.5) * (row + row @ shares(total))
    return row


def mean_row_distance(rows: FloatArray) -> float:
    """Return the mean total variation distance over all pairs of rows of a map (query, key), from 0 to 1.

    0 means that all rows are equal; 1 means that no two rows attend to a common key.

    >>> mean_row_distance(np.array([[1.0, 0.0], [0.0, 1.0]])), mean_row_distance(np.array([[0.5, 0.5], [0.5, 0.5]]))
    (1.0, 0.0)
    """
    distances = 0.5 * np.abs(rows[:, None] - rows[None]).sum(axis=-1)
    pairs = ~np.eye(len(rows), dtype=bool)
    return float(distances[pairs].mean()) if len(rows) > 1 else 0.0


def norms(weights: FloatArray, values: FloatArray, output: FloatArray) -> FloatArray:
    """Return the norm of the vector that each query receives from each key, shape (query, key).

    For query i and key j, the vector is Σ_h α_h(i, j) · v_h(j) W_O,h, a sum over heads (arXiv:2004.10102). ``weights``
    α is (head, query, key), ``values`` v is (head, key, channel), and ``output`` W_O is (head, channel, output).

    >>> norms(np.full((1, 1, 2), 0.5), np.array([[[3.0], [0.0]]]), np.array([[[0.0, 2.0]]])).tolist()
    [[3.0, 0.0]]
    """
    carried = np.einsum("hkc,hco->hko", values, output)
    added = np.einsum("hqk,hko->qko", weights, carried)
    sizes: FloatArray = np.linalg.norm(added, axis=-1)
    return sizes


def norms_of(record: Record, output: FloatArray, rows: slice) -> FloatArray:
    """Return the norm of the vector that each query of ``rows`` receives from each key of a layer, (row, key).

    ``norms`` defines this vector.
    """
    heads = range(record.heads)
    weights = np.stack([record.weights(head, rows) for head in heads])
    values = np.stack([record.value[record.kv_head(head)] for head in heads])
    return norms(weights, values, output)


def zeroing_rollout(distances: FloatArray) -> FloatArray:
    """Return the rollout of value-zeroing distances, shape (query, key) (arXiv:2301.12971).

    ``distances`` (layer, query, key) is how far each query's output moves if the value of a key is zero. Each row is
    scaled to sum to one. The distances include the residual stream, so no identity is added. A token whose distances
    are all zero keeps only its own contribution.

    >>> zeroing_rollout(np.array([[[0.2, 0.2], [0.0, 0.0]], [[0.0, 0.1], [0.3, 0.1]]])).round(3).tolist()
    [[0.0, 1.0], [0.375, 0.625]]
    """
    scaled = shares(distances)
    still = distances.sum(axis=-1) == 0
    layers, tokens = np.nonzero(still)
    scaled[layers, tokens, tokens] = 1
    return rollout(scaled)


def over_words(values: FloatArray, words: Sequence[tuple[int, int]]) -> FloatArray:
    """Sum token values (token,) over the tokens of each word, given as (start, stop); return shape (word,).

    >>> over_words(np.array([1.0, 2.0, 4.0]), [(0, 1), (1, 3)]).tolist()
    [1.0, 6.0]
    """
    return np.array([values[start:stop].sum() for start, stop in words], dtype=values.dtype)
