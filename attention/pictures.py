"""Pictures for vision models: pixels, the grid of patches, and distances between patches."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attention.mask import FloatArray


@dataclass(frozen=True)
class Grid:
    """A grid of image patches; each is a token, in row-major order from the token ``start``.

    ``box`` (left, top, right, bottom) is the part of the picture that the model receives after cropping, in pixels of
    the original. The patches divide it evenly; rows and columns count from 0.

    >>> grid = Grid(2, 3, 1, (0.0, 0.0, 60.0, 40.0))
    >>> len(grid), grid.token(1, 2), grid.place(6), grid.place(0)
    (6, 6, (1, 2), None)
    >>> grid.pixels(6)
    (40.0, 20.0, 60.0, 40.0)
    """

    rows: int
    columns: int
    start: int
    box: tuple[float, float, float, float]

    def __len__(self) -> int:
        return self.rows * self.columns

    def token(self, row: int, column: int) -> int:
        """Return the index of the token of the patch at ``row`` and ``column``."""
        return self.start + row * self.columns + column

    def place(self, token: int) -> tuple[int, int] | None:
        """Return (row, column) of a token's patch, or None if it has no patch, like CLS or registers."""
        at = token - self.start
        return divmod(at, self.columns) if 0 <= at < len(self) else None

    def pixels(self, token: int) -> tuple[float, float, float, float] | None:
        """Return a patch's box (left, top, right, bottom) in pixels of the original, or None without a patch."""
        place = self.place(token)
        if place is None:
            return None
        row, column = place
        left, top, right, bottom = self.box
        wide, high = (right - left) / self.columns, (bottom - top) / self.rows
        return left + column * wide, top + row * high, left + (column + 1) * wide, top + (row + 1) * high


Pixels = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True, eq=False)
class Picture:
    """RGB pixels, shape (row, column, 3) uint8, upright and read-only.

    Two pictures are equal if their pixels are equal.

    >>> Picture(np.zeros((2, 3, 3), np.uint8)) == Picture(np.zeros((2, 3, 3), np.uint8))
    True
    >>> Picture(np.zeros((2, 3, 3), np.uint8)) == Picture(np.zeros((3, 2, 3), np.uint8))
    False
    """

    pixels: Pixels

    def __post_init__(self) -> None:
        if self.pixels.dtype != np.uint8 or self.pixels.ndim != 3 or self.pixels.shape[2] != 3 or not self.pixels.size:
            raise ValueError(
                f"A picture is (row, column, 3) of uint8; this is {self.pixels.shape} of {self.pixels.dtype}."
            )
        kept = np.ascontiguousarray(self.pixels)
        kept = kept.copy() if kept is self.pixels and kept.flags.writeable else kept
        kept.setflags(write=False)
        object.__setattr__(self, "pixels", kept)

    @property
    def height(self) -> int:
        """Return the height in pixels."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """Return the width in pixels."""
        return int(self.pixels.shape[1])

    @property
    def nbytes(self) -> int:
        """Return the memory of the pixels in bytes."""
        return int(self.pixels.nbytes)

    @cached_property
    def key(self) -> str:
        """Return the SHA-256 hash of size and pixels, 64 hexadecimal digits."""
        found = hashlib.sha256(f"{self.height}x{self.width}".encode())
        found.update(self.pixels.tobytes())
        return found.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Picture) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


Place = tuple[int, int] | None  # row and column of a patch; None for CLS and registers


def between_patches(queries: Sequence[Place], keys: Sequence[Place]) -> FloatArray:
    """Return Euclidean distances between the patches of queries and keys, shape (query, key), in patches.

    The distance is NaN if either token has no patch, such as CLS or a register.

    >>> between_patches([(0, 0), None], [(3, 4), (0, 0)]).tolist()
    [[5.0, 0.0], [nan, nan]]
    """
    one, other = (np.array([(np.nan, np.nan) if at is None else at for at in side]) for side in (queries, keys))
    away: FloatArray = np.hypot(*np.moveaxis(one[:, None] - other[None], -1, 0)).astype(np.float32)
    return away


def patch_distance(weights: FloatArray, away: FloatArray) -> FloatArray:
    """Return the mean distance from each query's patch to the patches that it attends to, shape (..., query).

    Distances are in patches. ``weights`` is (..., query, key), and ``away`` (query, key) the distances from
    ``between_patches``. Weights to tokens without a patch are ignored. The value is NaN if the query has no patch or
    gives no weight to patches.

    >>> away = between_patches([None, (0, 0)], [None, (3, 4), (0, 0)])
    >>> patch_distance(np.array([[0.5, 0.5, 0.0], [0.6, 0.2, 0.2]], np.float32), away).tolist()
    [nan, 2.5]
    """
    there = np.isfinite(away)
    mass = np.einsum("...qk,qk->...q", weights, there.astype(np.float32))
    far = np.einsum("...qk,qk->...q", weights, np.nan_to_num(away))
    result: FloatArray = np.divide(far, mass, out=np.full_like(far, np.nan), where=mass > 0)
    return result
