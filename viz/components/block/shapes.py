"""What a drawing of a model is made of: boxes, the steps of a layer, towers of layers; all sizes in pixels."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import Any

ENTERS = -1  # among a step's sources: what enters the layer
LINE, ABOVE = 17, 14  # height of a line of text; what a box has above and below it
CELL = 12  # side of a cell of a mask
LETTER, STRONG = 6.4, 7.4  # width of a letter of a note and of a title, about

HAN = "\u2e80-\u2fff\u3040-\u9fff\uf900-\ufaff"  # Chinese characters, between which a line may break
WIDE = re.compile(f"[{HAN}\u3000-\u303f\uff00-\uff60]")
PARTS = re.compile(rf"[（《“‘]*[{HAN}][、。，：；？！）》”’]*\s*|[^\s{HAN}]+\s*")

Shape = dict[str, Any]


@dataclass(frozen=True)
class PartBox:
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
        notes = (wrap_text(note, int(room / LETTER)) for note in self.notes)
        return wrap_text(self.title, int(room / STRONG)), [one for n in notes for one in n]


def wrap_text(text: str, room: int) -> list[str]:
    """A text in lines of at most ``room`` letters; a line may end after any Chinese character, which is two wide.

    >>> wrap_text("Masked self-attention", 14), wrap_text("带掩码的自注意力，每层 12 头", 14)
    (['Masked', 'self-attention'], ['带掩码的自注意', '力，每层 12 头'])
    """
    if not WIDE.search(text):
        return textwrap.wrap(text, room, break_on_hyphens=False)
    lines = [""]
    for part in PARTS.findall(text):
        if len(WIDE.sub("xx", (lines[-1] + part).rstrip())) > room and lines[-1]:
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines]


@dataclass(frozen=True)
class LayerBox:
    """A box inside a layer and the steps whose results it reads, ENTERS for what enters the layer.

    A step of the role "add" is drawn as ⊕.
    """

    box: PartBox
    sources: tuple[int, ...]


@dataclass(frozen=True)
class LayerTower:
    """One stack of layers with what stands before and after it. ``summed`` are added up before ``before``.

    ``heads`` says that the last row of ``after`` is where the drawing ends.
    """

    name: str
    reads: str  # "14 tokens"
    summed: tuple[PartBox, ...]
    before: tuple[PartBox, ...]
    repeats: str  # "6 ×"
    steps: tuple[LayerBox, ...]
    leaves: int
    after: tuple[tuple[PartBox, ...], ...]  # rows; boxes of one row stand side by side
    shape: str  # "14 × 384"
    heads: bool = False


@dataclass(frozen=True)
class ModelDrawing:
    """Shapes within ``width`` and ``height``."""

    width: int
    height: int
    shapes: tuple[Shape, ...]
