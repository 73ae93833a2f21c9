"""A result as a picture has it: a row a token, all its numbers side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def flat(array: Array) -> Array:
    """A result as (row, number): the axis before the last is the tokens', all others lie side by side."""
    rows = array if array.ndim > 1 else array.reshape(1, -1)
    found: Array = np.moveaxis(rows, -2, 0).reshape(rows.shape[-2], -1)
    return found


def place_of(shape: tuple[int, ...], row: int, column: int) -> tuple[int, ...]:
    """Where a number of ``flat`` stands in the result.

    >>> place_of((1, 3, 5, 8), 4, 9)
    (0, 1, 4, 1)
    """
    if len(shape) == 1:
        return (column,)
    others = np.unravel_index(column, (*shape[:-2], shape[-1]))
    return (*(int(axis) for axis in others[:-1]), row, int(others[-1]))


def spot_of(shape: tuple[int, ...], place: tuple[int, ...]) -> tuple[int, int]:
    """The row and the column of ``flat`` that a place of the result is.

    >>> spot_of((1, 3, 5, 8), (0, 1, 4, 1))
    (4, 9)
    """
    if len(place) == 1:
        return 0, place[0]
    others = np.ravel_multi_index((*place[:-2], place[-1]), (*shape[:-2], shape[-1]))
    return place[-2], int(others)
