"""Numbers that describe a head's map: how spread it is, how far it looks, who receives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.mask import Array
from attention.view import View


def entropy(weights: Array) -> Array:
    """Spread of each query's attention, (..., query, key) -> (..., query), in bits: 0 = one key, log2(n) = uniform.

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    # 0 · log 0 counts as 0; adding the smallest normal number keeps the logarithm finite and changes nothing else.
    logs = np.log2(weights + np.finfo(np.float32).tiny)
    result: Array = -np.einsum("...k,...k->...", weights, logs) + 0.0
    return result


def distance(weights: Array, rows: npt.NDArray[np.intp] | None = None) -> Array:
    """Mean distance a query looks, (..., query, key) -> (..., query), in tokens; ``rows`` are the queries' positions.

    >>> distance(np.array([[0.0, 0.0, 1.0]]), np.array([0])).tolist()
    [2.0]
    """
    queries = np.arange(weights.shape[-2]) if rows is None else rows
    away = np.abs(np.arange(weights.shape[-1], dtype=np.float32)[None, :] - queries.astype(np.float32)[:, None])
    result: Array = np.einsum("...qk,qk->...q", weights, away)
    return result


def received(weights: Array) -> Array:
    """Attention each key receives, the mean over the queries, (..., query, key) -> (..., key).

    >>> received(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [0.75, 0.25]
    """
    result: Array = weights.mean(axis=-2)
    return result


def by_offset(weights: Array, reach: int) -> Array:
    """Share of attention at each distance, (query, key) -> (2 * reach + 1,): key minus query from -reach to reach.

    The share is the mean over the queries that have a key at that distance.

    >>> by_offset(np.array([[0.0, 1.0], [1.0, 0.0]]), 1).tolist()
    [1.0, 0.0, 1.0]
    """
    shares = np.zeros(2 * reach + 1, dtype=np.float32)
    for offset in range(-reach, reach + 1):
        diagonal = np.diagonal(weights, offset)
        shares[offset + reach] = diagonal.mean() if len(diagonal) else 0
    return shares


def as_shares(weights: Array) -> Array:
    """Each row as shares of what it gives to the keys shown, (..., query, key); an empty row stays empty.

    Entropy and distance describe a distribution; with special tokens hidden, or with sinks, a row sums to less.

    >>> as_shares(np.array([[0.1, 0.3], [0.0, 0.0]], np.float32)).round(2).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    mass = weights.sum(axis=-1, keepdims=True)
    shares: Array = np.divide(weights, mass, out=np.zeros_like(weights), where=mass > 0)
    return shares


@dataclass(frozen=True, eq=False)
class Survey:
    """Every head at a glance, made in one pass over the maps."""

    thumbnails: Array  # (layer, head, row, col): the largest weight of each cell
    entropy: Array  # (layer, head), mean over queries, bits, of the shares among the keys shown
    distance: Array  # (layer, head), mean over queries, in cells of the view, likewise
    received: Array  # (key,), mean over queries and all heads
    sampled: bool  # from some rows only, because the text is long


def survey(view: View, size: int) -> Survey:
    """Thumbnails of at most (size, size) and the measures of every head."""
    rows = view.sample(size)
    grids, spreads, reaches = [], [], []
    total = np.zeros(len(view.keys))
    for layer in view.maps(size):
        for weights in layer:
            grids.append(view.thumbnail(weights, size))
            shares = as_shares(weights)
            spreads.append(entropy(shares).mean())
            reaches.append(distance(shares, rows).mean())
            total += received(weights)
    shape = (view.layers, view.heads)
    return Survey(
        np.array(grids, dtype=np.float32).reshape(*shape, *grids[0].shape),
        np.array(spreads, dtype=np.float32).reshape(shape),
        np.array(reaches, dtype=np.float32).reshape(shape),
        (total / len(grids)).astype(np.float32),
        view.sampled(),
    )
