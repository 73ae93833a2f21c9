"""Large maps made small: the largest weight of each cell, so that a thin diagonal is never lost."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray


def edges(length: int, size: int) -> npt.NDArray[np.intp]:
    """Where the cells begin when an axis is cut into at most ``size`` cells as even as possible.

    >>> edges(7, 3).tolist(), edges(2, 3).tolist()
    ([0, 2, 4], [0, 1])
    """
    cells = min(length, size)
    return (np.arange(cells) * length) // max(1, cells)


def max_pool(values: FloatArray, size: int) -> FloatArray:
    """The largest value of each cell, (row, col) -> at most (size, size).

    >>> max_pool(np.array([[1, 2, 0], [0, 0, 5]], np.float32), 2).tolist()
    [[1.0, 2.0], [0.0, 5.0]]
    """
    return pool_cols(pool_rows(values, size), size)


def far_pool(values: FloatArray, size: int) -> FloatArray:
    """The value furthest from zero of each cell, (row, col) -> at most (size, size); of two alike the one above it.

    >>> far_pool(np.array([[0.5, -2, 0], [0, 0, -0.5]], np.float32), 2).tolist()
    [[0.5, -2.0], [0.0, -0.5]]
    """
    return furthest_from_zero(max_pool(values, size), -max_pool(-values, size))


def furthest_from_zero(most: FloatArray, least: FloatArray) -> FloatArray:
    """Of each two values the one further from zero, as most and as least of their cells."""
    result: FloatArray = np.where(most >= -least, most, least)
    return result


def pool_rows(values: FloatArray, size: int) -> FloatArray:
    """The largest value of each of at most ``size`` row cells, (row, col) -> (cell, col)."""
    if values.shape[0] <= size:
        return values
    starts = edges(values.shape[0], size)
    last = np.append(starts[1:], values.shape[0]) - 1
    # Whole rows compared at once: eight times faster than reduceat, which goes through them number by number.
    result: FloatArray = values[starts]
    for step in range(1, int((last - starts).max()) + 1):
        np.maximum(result, values[np.minimum(starts + step, last)], out=result)
    return result


def pool_cols(values: FloatArray, size: int) -> FloatArray:
    """The largest value of each of at most ``size`` column cells, (row, col) -> (row, cell)."""
    if values.shape[1] <= size:
        return values
    result: FloatArray = np.maximum.reduceat(values, edges(values.shape[1], size), axis=1)
    return result


def sample_rows(length: int, size: int, each: int) -> npt.NDArray[np.intp]:
    """Evenly spread rows, ``each`` in every one of ``size`` cells (all rows where a cell has fewer).

    >>> sample_rows(12, 2, 3).tolist()
    [0, 2, 4, 6, 8, 10]
    """
    starts = np.append(edges(length, size), length)
    picks = [np.unique(np.linspace(a, b, each, endpoint=False, dtype=np.intp)) for a, b in pairwise(starts)]
    return np.concatenate(picks) if picks else np.empty(0, dtype=np.intp)
