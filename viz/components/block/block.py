"""A diagram of a model's layers, drawn by block.js; a click on a part opens its explanation."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from viz.components.script import script, stylesheet, words_field


@dataclass(frozen=True)
class PaperLink:
    """A cited paper: its title and its address."""

    text: str
    url: str


@dataclass(frozen=True)
class PartExplanation:
    """The explanation of a part of the diagram, with the papers that it cites."""

    title: str
    text: str
    papers: tuple[PaperLink, ...] = ()


def payload(  # noqa: PLR0913  (the fields of the payload)
    towers: Sequence[LayerTower],
    title: str,
    file: str,
    told: Mapping[str, PartExplanation] | None = None,
    picked: str = "",
    sizes: Sequence[tuple[str, str, str]] = (),
) -> dict[str, Any]:
    """Return the data for block.js, with the fields of its typedef BlockData.

    ``title`` names the drawing for screen readers, and ``file`` is the name of saved files. ``told`` maps the id of a
    part to its explanation; only a part with an explanation can be picked. ``picked`` is the id of the selected part,
    or "". ``sizes`` are the rows of a legend: letter, number, meaning.
    """
    wide = _drawing(draw(towers, beside=True))
    there = {shape.get("id") for shape in wide["shapes"]}
    told = {
        at: one for at, one in (told or {}).items() if at in there
    }  # an explanation may belong to a part that is not drawn
    return {
        "title": title,
        "file": file,
        "picked": picked,
        "sizes": [list(size) for size in sizes],
        "wide": wide,
        "narrow": _drawing(draw(towers, beside=False)),
        "told": {
            at: {
                "title": one.title,
                "text": one.text,
                "papers": [{"text": paper.text, "url": paper.url} for paper in one.papers],
            }
            for at, one in told.items()
        },
        **words_field("block/block"),
    }


def mount(data: Mapping[str, Any], key: str, on_pick: Callable[[], None] | None = None) -> None:
    """Draw the diagram; call ``on_pick`` if the visitor picks a part.

    Inside ``on_pick``, ``picked_part(key)`` returns the id of the part.
    """
    _COMPONENT(data=dict(data), key=key, on_picked_change=on_pick or _nothing)


def picked_part(key: str) -> str | None:
    """Return the id of the part of the diagram that was clicked, or None; call it inside ``on_pick``."""
    part = st.session_state.get(key, {}).get("picked")
    return part if isinstance(part, str) else None


def _nothing() -> None:
    return None


def _drawing(drawing: ModelDrawing) -> dict[str, Any]:
    return {"width": drawing.width, "height": drawing.height, "shapes": list(drawing.shapes)}


_COMPONENT = st.components.v2.component(
    "headlight_block",
    html='<div id="block"></div>',
    js=script("block/block"),
    css=stylesheet("shared/look", "block/block"),
)


ENTERS = -1  # a step's source that is the layer's input
LINE, ABOVE = 17, 14  # pixels: height of a line of text, and vertical padding of a box
CELL = 12  # side of a mask's cell in pixels
LETTER, STRONG = 6.4, 7.4  # approximate width in pixels of a letter of a note and of a title

HAN = "\u2e80-\u2fff\u3040-\u9fff\uf900-\ufaff"  # Chinese characters, between which a line may break
WIDE = re.compile(f"[{HAN}\u3000-\u303f\uff00-\uff60]")
PARTS = re.compile(rf"[（《“‘]*[{HAN}][、。，：；？！）》”’]*\s*|[^\s{HAN}]+\s*")

Shape = dict[str, Any]


@dataclass(frozen=True)
class PartBox:
    """A part of the diagram of a model, drawn as a box with texts.

    ``role`` sets the colour, and ``id`` identifies the explanation. If ``cells`` is given, it is an attention mask
    (query, key), which is drawn inside the box.
    """

    id: str
    role: str
    title: str
    notes: tuple[str, ...] = ()
    cells: tuple[tuple[bool, ...], ...] = ()

    def shape(self, x: int, y: int, width: int, height: int) -> Shape:
        """Return the box with its texts as a shape; its upper left corner is at x, y."""
        title, notes = self.lines(width)
        place = {"x": x, "y": y, "w": width, "h": height}
        return {"kind": "box", "id": self.id, "role": self.role, **place, "title": title, "notes": notes}

    def mask(self, middle: int, y: int, width: int) -> Shape:
        """Return the attention mask of the box as a shape, centred at x = ``middle``; ``y`` is the box's upper edge."""
        across = CELL * len(self.cells[0])
        start = y + ABOVE - 4 + LINE * sum(map(len, self.lines(width)))
        place = {"x": middle - across // 2, "y": start, "w": across, "h": CELL * len(self.cells)}
        return {"kind": "cells", "role": self.role, **place, "size": CELL, "rows": self.cells}

    def height(self, width: int) -> int:
        """Return the height that the box needs at this width."""
        return ABOVE + LINE * sum(map(len, self.lines(width))) + CELL * len(self.cells)

    def lines(self, width: int) -> tuple[list[str], list[str]]:
        """Return the title and the notes, wrapped to this width."""
        room = width - 12
        notes = (wrap_text(note, int(room / LETTER)) for note in self.notes)
        return wrap_text(self.title, int(room / STRONG)), [one for n in notes for one in n]


def wrap_text(text: str, room: int) -> list[str]:
    """Break a text into lines of at most ``room`` letters; a Chinese character counts as two.

    A line may end after any Chinese character.

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
    """A box inside a layer; ``sources`` are the indices of the boxes whose outputs enter it.

    The index ENTERS means the input of the layer. A box with the role "add" is drawn as ⊕.
    """

    box: PartBox
    sources: tuple[int, ...]


@dataclass(frozen=True)
class LayerTower:
    """A stack of equal layers in the diagram, with the parts before and after the stack.

    The parts ``summed``, such as embeddings, are side by side, and their sum enters the parts ``before``. ``steps`` are
    the boxes of a layer, and ``leaves`` is the index of the box whose output leaves the layer. ``after`` are the rows
    of boxes behind the stack. If ``heads`` is set, the last of them has prediction heads, so no arrow leaves the
    drawing.
    """

    name: str
    reads: str  # "14 tokens"
    summed: tuple[PartBox, ...]
    before: tuple[PartBox, ...]
    repeats: str  # "6 ×"
    steps: tuple[LayerBox, ...]
    leaves: int
    after: tuple[tuple[PartBox, ...], ...]  # rows of boxes side by side
    shape: str  # "14 × 384"
    heads: bool = False


@dataclass(frozen=True)
class ModelDrawing:
    """The shapes of a diagram, all within ``width`` and ``height``."""

    width: int
    height: int
    shapes: tuple[Shape, ...]


WIDTH = 344  # width of a tower
CENTRE, BOX, PAIR = 178, 216, 128  # a tower's middle; the width of a single box, and of a box in a pair
RAIL = 34  # x coordinate of residual connections
EDGE = 2  # x coordinate at which the encoder's output enters
GAP, PAD = 20, 16  # distance between boxes; padding of the frame
ADD = 11  # radius of ⊕


def draw(towers: Sequence[LayerTower], beside: bool) -> ModelDrawing:
    """Draw a stack of layers, or an encoder and its decoder: side by side if ``beside``, else vertically.

    The vertical drawing is for narrow pages.
    """
    pens = [_Pen(tower, mirror=at > 0) for at, tower in enumerate(towers)]
    for pen in pens:
        pen.draw(ends=pen is pens[-1])
    places = [(at * WIDTH, 0) if beside else (0, sum(p.y for p in pens[:at])) for at in range(len(pens))]
    shapes = [_move_shape(shape, *place) for pen, place in zip(pens, places, strict=True) for shape in pen.shapes]
    for pen, (x, y) in zip(pens[1:], places[1:], strict=True):
        shapes += _cross_lines(pens[0].out, x if beside else 0, pen.crossed, y)
    width = WIDTH * (len(pens) if beside else 1)
    height = max(pen.y for pen in pens) if beside else sum(pen.y for pen in pens)
    return ModelDrawing(width, height, tuple(shapes))


def _cross_lines(out: int, x: int, crossed: Sequence[int], y: int) -> list[Shape]:
    """Return lines from the encoder's output to each cross-attention of a decoder with corner x, y."""
    start = [[CENTRE, out], [CENTRE, out + GAP // 2], [x + EDGE, out + GAP // 2]]
    box = x + WIDTH - CENTRE - BOX // 2
    ends = [[[x + EDGE, y + at], [box, y + at]] for at in crossed]
    return [{"kind": "line", "points": [*start, *end], "arrow": True, "role": "memory"} for end in ends]


def _move_shape(shape: Shape, x: int, y: int) -> Shape:
    if shape["kind"] == "line":
        return {**shape, "points": [[px + x, py + y] for px, py in shape["points"]]}
    return {**shape, "x": shape["x"] + x, "y": shape["y"] + y}


class _Pen:
    """A pen that draws a tower downwards; ``y`` is its current height.

    In a mirrored tower the residual connections are on the right.
    """

    def __init__(self, tower: LayerTower, mirror: bool) -> None:
        self.tower, self.mirror = tower, mirror
        self.shapes: list[Shape] = []
        self.crossed: list[int] = []  # heights at which the encoder's output enters
        self.y = 0
        self.out = 0  # lower edge of the last box

    def draw(self, ends: bool) -> None:
        """Draw the whole tower; the last arrow is drawn only if the tower ``ends`` the drawing."""
        tower = self.tower
        self.text(CENTRE, 16, tower.name, "title")
        self.text(CENTRE, 34, tower.reads, "note")
        self.y = 42
        if tower.summed:
            self.embeddings(tower.summed)
        for box in tower.before:
            self.arrow()
            self.boxes([box])
        self.arrow(tower.shape, head=False)
        self.layer()
        self.out = self.y
        for at, row in enumerate(tower.after):
            self.arrow("" if at else tower.shape, head=len(row) == 1)
            fork = self.y
            if len(row) > 1:  # below the label of the arrow
                self.y += GAP // 2
            top = self.y
            middles = self.boxes(row, BOX if len(row) == 1 else PAIR if len(row) == 2 else 106)
            if len(row) > 1:
                for x in middles:
                    self.line([[CENTRE, fork], [x, fork], [x, top]])
            self.out = self.y
        if ends and not tower.heads:
            self.arrow("" if tower.after else tower.shape)
        elif not ends:
            self.y += GAP
        self.y += 4

    def embeddings(self, boxes: Sequence[PartBox]) -> None:
        """Draw embedding tables side by side, and their sum."""
        self.arrow()
        centres = self.boxes(boxes, 106 if len(boxes) > 2 else PAIR)
        if len(boxes) > 1:
            top = self.y
            self.y += GAP + ADD
            for x in centres:
                bend = [[x, self.y]] if x != CENTRE else []
                end = [CENTRE + (ADD if x > CENTRE else -ADD), self.y] if x != CENTRE else [CENTRE, self.y - ADD]
                self.line([[x, top], *bend, end])
            self.shape({"kind": "add", "id": "sum", "x": CENTRE, "y": self.y, "r": ADD})
            self.y += ADD

    def layer(self) -> None:
        """Draw the frame with the steps of a layer; steps of equal rank are side by side."""
        top = self.y
        steps, ranks = self.tower.steps, _ranks(self.tower.steps)
        self.y += PAD
        places: dict[int, tuple[int, int, int]] = {ENTERS: (CENTRE, top, top)}  # step → middle, top and bottom
        for rank in range(1, max(ranks.values()) + 1):
            row = [at for at in range(len(steps)) if ranks[at] == rank]
            if rank > 1:
                self.y += GAP
            start = self.y
            if steps[row[0]].box.role == "add":
                self.shape({"kind": "add", "id": steps[row[0]].box.id, "x": CENTRE, "y": start + ADD, "r": ADD})
                self.y = start + 2 * ADD
                places[row[0]] = (CENTRE, start, self.y)
                continue
            centres = self.boxes([steps[at].box for at in row], PAIR if len(row) > 1 else BOX)
            for at, x in zip(row, centres, strict=True):
                places[at] = (x, start, self.y)
                if steps[at].box.role == "cross-attention":
                    self.crossed.append((start + self.y) // 2)
        for at, step in enumerate(steps):
            for source in step.sources:
                self.connect(places, ranks, source, at)
        last, _, bottom = places[self.tower.leaves]
        self.y += PAD
        self.line([[last, bottom], [last, self.y]], arrow=False)
        frame = {"kind": "frame", "x": 20, "y": top, "w": WIDTH - 28, "h": self.y - top, "text": self.tower.repeats}
        self.shapes.insert(0, self.flip(frame))

    def connect(self, places: dict[int, tuple[int, int, int]], ranks: dict[int, int], source: int, target: int) -> None:
        """Draw a line between two steps: direct to the next rank, or along the side to a later rank."""
        (x, _, bottom), (to, top, end) = places[source], places[target]
        rank = 0 if source == ENTERS else ranks[source]
        added = self.tower.steps[target].box.role == "add"
        if ranks[target] == rank + 1:
            middle = top - GAP // 2 if source != ENTERS else bottom + PAD // 2
            if added and x != to:
                self.line([[x, bottom], [x, top + ADD], [to + (ADD if x > to else -ADD), top + ADD]])
            else:
                self.line([[x, bottom], [to, top]] if x == to else [[x, bottom], [x, middle], [to, middle], [to, top]])
            return
        out, into = bottom + GAP // 2 - 2 if source != ENTERS else bottom + PAD // 2, (top + end) // 2
        side = to - ADD if added else to - BOX // 2
        self.line([[x, out], [RAIL, out], [RAIL, into], [side, into]], "residual")

    def boxes(self, boxes: Sequence[PartBox], width: int = BOX) -> list[int]:
        """Draw boxes side by side, all as high as the highest; return their middles."""
        height = max(box.height(width) for box in boxes)
        room = width + 6
        first = CENTRE - room * (len(boxes) - 1) / 2
        centres = [round(first + room * at) for at in range(len(boxes))]
        for box, x in zip(boxes, centres, strict=True):
            self.shape(box.shape(x - width // 2, self.y, width, height))
            if box.cells:
                self.shape(box.mask(x, self.y, width))
        self.y += height
        return centres

    def arrow(self, label: str = "", head: bool = True) -> None:
        """Draw a line downwards, labelled with the shape of the tensor."""
        self.line([[CENTRE, self.y], [CENTRE, self.y + GAP]], arrow=head)
        if label:
            self.text(CENTRE + 8, self.y + 14, label, "shape", "start")
        self.y += GAP

    def line(self, points: list[list[int]], role: str = "flow", arrow: bool = True) -> None:
        self.shape({"kind": "line", "points": points, "role": role, "arrow": arrow})

    def text(self, x: int, y: int, text: str, role: str, anchor: str = "middle") -> None:
        self.shape({"kind": "text", "x": x, "y": y, "text": text, "role": role, "anchor": anchor})

    def shape(self, shape: Shape) -> None:
        self.shapes.append(self.flip(shape))

    def flip(self, shape: Shape) -> Shape:
        """Return a shape mirrored horizontally if the tower is mirrored."""
        if not self.mirror:
            return shape
        if shape["kind"] == "line":
            return {**shape, "points": [[WIDTH - x, y] for x, y in shape["points"]]}
        if "anchor" in shape and shape["anchor"] == "start":
            return {**shape, "x": WIDTH - shape["x"], "anchor": "end"}
        return {**shape, "x": WIDTH - shape["x"] - shape.get("w", 0)}


def _ranks(steps: Sequence[LayerBox]) -> dict[int, int]:
    """Return the rank of each step, the length of the longest path from the layer's input."""
    ranks: dict[int, int] = {}
    for at, step in enumerate(steps):
        ranks[at] = 1 + max(0 if source == ENTERS else ranks[source] for source in step.sources)
    return ranks
