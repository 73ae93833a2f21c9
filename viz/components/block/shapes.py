"""What a drawing of a model is made of: boxes, the steps of a layer, towers of layers; all sizes in pixels."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

ENTERS = -1  # among a step's sources: what enters the layer
LINE, ABOVE = 17, 14  # height of a line of text; what a box has above and below it
CELL = 12  # side of a cell of a mask
LETTER, STRONG = 6.4, 7.4  # width of a letter of a note and of a title, about

Shape = dict[str, Any]


@dataclass(frozen=True)
class Box:
    """One part. ``role`` picks its colour; ``id`` names its explanation; ``cells`` is a mask, (query, key)."""

    id: str
    role: str
    title: str
    notes: tuple[str, ...] = ()
    cells: tuple[tuple[bool, ...], ...] = ()

    def shape(self, x: int, y: int, width: int, height: int) -> Shape:
        """The box with its texts, its left top corner at x, y."""
        title, notes = self.lines(width)
        place = {"x": x, "y": y, "w": width, "h": height}
        return {"kind": "box", "id": self.id, "role": self.role, **place, "title": title, "notes": notes}

    def mask(self, middle: int, y: int, width: int) -> Shape:
        """The mask in a box that begins at y."""
        across = CELL * len(self.cells[0])
        start = y + ABOVE - 4 + LINE * sum(map(len, self.lines(width)))
        place = {"x": middle - across // 2, "y": start, "w": across, "h": CELL * len(self.cells)}
        return {"kind": "cells", "role": self.role, **place, "size": CELL, "rows": self.cells}

    def height(self, width: int) -> int:
        """How high a box of that width must be."""
        return ABOVE + LINE * sum(map(len, self.lines(width))) + CELL * len(self.cells)

    def lines(self, width: int) -> tuple[list[str], list[str]]:
        """Title and notes in lines that fit."""
        room = width - 12
        notes = (textwrap.wrap(note, int(room / LETTER), break_on_hyphens=False) for note in self.notes)
        return textwrap.wrap(self.title, int(room / STRONG), break_on_hyphens=False), [one for n in notes for one in n]


@dataclass(frozen=True)
class Step:
    """A box inside a layer and the steps whose results it reads, ENTERS for what enters the layer.

    A step of the role "add" is drawn as ⊕.
    """

    box: Box
    sources: tuple[int, ...]


@dataclass(frozen=True)
class Tower:
    """One stack of layers with what stands before and after it. ``summed`` are added up before ``before``.

    ``heads`` says that the last row of ``after`` is where the drawing ends.
    """

    name: str
    reads: str  # "14 tokens"
    summed: tuple[Box, ...]
    before: tuple[Box, ...]
    repeats: str  # "6 ×"
    steps: tuple[Step, ...]
    leaves: int
    after: tuple[tuple[Box, ...], ...]  # rows; boxes of one row stand side by side
    shape: str  # "14 × 384"
    heads: bool = False


@dataclass(frozen=True)
class Drawing:
    """Shapes within ``width`` and ``height``."""

    width: int
    height: int
    shapes: tuple[Shape, ...]
