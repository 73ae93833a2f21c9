"""A picture as a model's processor is given it: rows of pixels, and a key that says which picture it is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True, eq=False)
class Picture:
    """Red, green and blue of every pixel, (row, column, 3) uint8, upright, read-only. Equal where the pixels are.

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
        """Rows of pixels."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """Columns of pixels."""
        return int(self.pixels.shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return int(self.pixels.nbytes)

    @cached_property
    def key(self) -> str:
        """SHA-256 of the size and the pixels, 64 hexadecimal digits."""
        found = hashlib.sha256(f"{self.height}x{self.width}".encode())
        found.update(self.pixels.tobytes())
        return found.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Picture) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)
