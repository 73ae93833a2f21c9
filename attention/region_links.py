"""Which heads link one region of a picture to another: what its patches give the other's beyond what the rest gives.

The weight is the mean over the patches that look, summed over those that are looked at. Beside it stands what these get
usually: from the picture's other patches, those outside of the region that looks, counted as in attention/excess.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.excess import visible_word_pairs
from attention.grid import Grid
from attention.mask import FloatArray
from attention.record import EVERYTHING
from attention.view import View

Region = tuple[int, int, int, int]  # the first row and column and the last row and column, from 0
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RegionLinks:
    """Of every head, each (layer, head) float32; ``usual`` is NaN where there are no other patches."""

    weights: FloatArray
    usual: FloatArray

    @property
    def beyond(self) -> FloatArray:
        """The weight beyond what other patches give, from -1 to 1."""
        found: FloatArray = self.weights - self.usual
        return found


def pack(region: Region) -> str:
    """A region as one short word for an address; ``unpack`` is its inverse.

    >>> pack((0, 1, 2, 3)), unpack("0-1-2-3", Grid(3, 4, 1, (0, 0, 1, 1)))
    ('0-1-2-3', (0, 1, 2, 3))
    """
    return "-".join(map(str, region))


def unpack(packed: str, grid: Grid) -> Region | None:
    """The region that an address names; None for what is none of this grid.

    >>> unpack("2-0-1-1", Grid(3, 4, 1, (0, 0, 1, 1))), unpack("nowhere", Grid(3, 4, 1, (0, 0, 1, 1)))
    (None, None)
    """
    words = packed.split("-")
    if len(words) != 4 or not all(word.isascii() and word.isdigit() and len(word) < 6 for word in words):
        return None
    return parse_region(list(map(int, words)), grid)


def parse_region(ends: object, grid: Grid) -> Region | None:
    """Four numbers as a region of a grid; None where they are none."""
    if not isinstance(ends, list | tuple) or len(ends) != 4 or not all(type(end) is int for end in ends):
        return None
    top, left, bottom, right = ends
    return (top, left, bottom, right) if 0 <= top <= bottom < grid.rows and 0 <= left <= right < grid.columns else None


def tokens_of(region: Region, grid: Grid) -> Indices:
    """A region's tokens.

    >>> tokens_of((0, 1, 1, 2), Grid(2, 3, 1, (0, 0, 1, 1))).tolist()
    [2, 3, 5, 6]
    """
    top, left, bottom, right = region
    rows, columns = np.arange(top, bottom + 1), np.arange(left, right + 1)
    return (grid.start + rows[:, None] * grid.columns + columns[None]).ravel().astype(np.intp)


def region_links(view: View, looking: Indices, looked: Indices) -> RegionLinks:
    """How much some patches give others in every head; ``view`` has a cell for each token."""
    records = view.trace.shares(view.part)
    found: list[list[tuple[float, float]]] = []
    for layer, record in enumerate(record.quick() for record in records):
        counted = visible_word_pairs(view, layer, np.arange(len(view.queries)), looked)
        counted[looking] = False
        many = counted.sum(axis=0)
        row = []
        for head in range(record.heads):
            weights = record.weights(head, EVERYTHING, looked)
            sums = np.where(counted, weights, 0).sum(axis=0)
            usual = np.divide(sums, many, out=np.full(len(looked), np.nan, np.float32), where=many > 0)
            row.append((float(weights[looking].mean(axis=0).sum()), float(usual.sum())))
        found.append(row)
    both = np.array(found, np.float32)
    return RegionLinks(both[..., 0], both[..., 1])
