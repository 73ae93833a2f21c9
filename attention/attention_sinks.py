"""Where one token looks, in all heads, beside its neighbour and the first token, which takes what nobody needs."""

from __future__ import annotations

import numpy as np

from attention.mask import FloatArray


def without_first(looks: FloatArray) -> FloatArray:
    """Weights (..., key) with the first token's taken out and the rest scaled to one again; 0 where nothing is left.

    >>> without_first(np.array([0.5, 0.25, 0.25], np.float32)).tolist()
    [0.0, 0.5, 0.5]
    """
    kept = looks.copy()
    kept[..., 0] = 0
    left = kept.sum(axis=-1, keepdims=True)
    result: FloatArray = np.divide(kept, left, out=np.zeros_like(kept), where=left != 0)  # NaN stays NaN
    return result


def without_missing(looks: FloatArray) -> FloatArray:
    """Return weights (layer, head, key) with NaN for the layers that give nothing, since they have no attention.

    >>> without_missing(np.array([[[0.0, 0.0]], [[0.5, 0.5]]], np.float32)).tolist()
    [[[nan, nan]], [[0.5, 0.5]]]
    """
    known: FloatArray = np.where(looks.any(axis=(-2, -1), keepdims=True), looks, np.float32(np.nan))
    return known


def largest_weight_back(looks: FloatArray) -> FloatArray:
    """The largest weight (...) further back: on no first token, nor on the newest and the one before it; else 0.

    Many heads look at the neighbour whatever it is; what is further back had to be found.

    >>> largest_weight_back(np.array([[0.5, 0.25, 0.125, 0.125], [0.0, 0.125, 0.875, 0.0]], np.float32)).tolist()
    [0.25, 0.125]
    """
    further: FloatArray = looks[..., 1:-2].max(axis=-1, initial=0)
    result: FloatArray = np.where(np.isnan(looks[..., -1]), looks[..., -1], further)
    return result


def mean_distance_back(looks: FloatArray) -> FloatArray:
    """How far back the newest token looks, (...): the mean distance in tokens, the first token's weight counted as 0.

    The first token is far from every other, and much weight on it says little (arXiv:2309.17453).

    >>> (
    ...     mean_distance_back(np.array([0.5, 0.5, 0.0], np.float32)).tolist(),
    ...     mean_distance_back(np.array([1.0], np.float32)).tolist(),
    ... )
    (0.5, 0.0)
    """
    distance = np.arange(looks.shape[-1])[::-1].astype(np.float32)
    distance[0] = 0
    result: FloatArray = (looks * distance).sum(axis=-1)
    return result
