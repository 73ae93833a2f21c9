"""A picture of a head's map with tokens, legend and caption, like that of explore/matrix_picture.js."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from attention.mask import FloatArray
from attention.view import DisplayToken, View, far_pool, max_pool
from i18n import _, translate, typeset_number
from viz.colors import Colors, diverging_ramp, sequential_ramp
from viz.export import MOST_CELLS, TooLong
from viz.static.shapes import (
    Anchor,
    Box,
    Cells,
    Shape,
    StaticPicture,
    Text,
    elide_text,
    printable_text,
    width,
    wrap_text,
)

HEAD_MAP, GAP, LABEL_HEIGHT = 52, 6, 12  # pixels of a map among all heads, between maps, and of labels

MAP, CELL = 780, 40  # pixels of the map's longer side, and of a cell at most
LABEL, SMALL = 12, 11  # font sizes in pixels: next to the map, and under it
LONGEST = 116  # pixels of a token's label at most
ROOM = 13  # pixels between the middles of two labels
INK, MUTED, HAIR, ACCENT = "#1e2028", "#5f6168", "#d4d5d9", "#d62828"


def picture(view: View, layer: int, head: int, focus: int | None = None) -> StaticPicture:
    """Return the picture of a head's map; ``layer`` and ``head`` count from 0.

    ``focus`` is the index of a query in the view, whose row is framed. If cells would be smaller than a pixel, each
    drawn cell is the largest weight of a block. Raises viz.export.TooLong for more than MOST_CELLS weights.
    """
    rows, columns = len(view.queries), len(view.keys)
    if rows * columns > MOST_CELLS:
        raise TooLong(f"A picture holds at most {MOST_CELLS:,} weights; this map has {rows * columns:,}.")
    weights = view.weights(layer, head)
    top = float(np.abs(weights).max(initial=0)) or 1.0
    scale = min(CELL, MAP / max(rows, columns))
    left, above = 28 + _widest_label(view.queries), 28 + max(32, _widest_label(view.keys))
    wide, tall = columns * scale, rows * scale
    across = math.ceil(max(left + wide + 12, left + 340))
    shapes: list[Shape] = [
        Cells(
            left,
            above,
            wide,
            tall,
            color_weights((far_pool if view.is_signed else max_pool)(weights, MAP), top, view.is_signed),
        ),
        Box(left - 0.5, above - 0.5, wide + 1, tall + 1, HAIR),
    ]
    if focus is not None:
        shapes.append(Box(left, above + focus * scale, wide, max(2, scale), ACCENT, 1.5))
    for at, y in _labeled_tokens(rows, scale, focus):
        shapes.append(_label(view.queries[at], left - 8, above + y, at == focus, turned=False))
    for at, x in _labeled_tokens(columns, scale, None):
        shapes.append(_label(view.keys[at], left + x, above - 8, False, turned=True))
    shapes.append(Text(_("column: what it looks at"), left, 9, SMALL, MUTED))
    shapes.append(Text(_("row: the token that looks"), 9, above + tall, SMALL, MUTED, turned=True))
    shapes += _legend(left, above + tall + 12, top, view.is_signed)
    told = caption(view, layer, head)
    lines = [line for one in told for line in wrap_text(one, across - 16, SMALL)]
    below = above + tall + 58
    shapes += [Text(line, 8, below + 15 * at, SMALL, MUTED) for at, line in enumerate(lines)]
    return StaticPicture(across, math.ceil(below + 15 * len(lines)), tuple(shapes), " · ".join(told))


def caption(view: View, layer: int, head: int) -> tuple[str, str]:
    """Return the two lines under the picture: the head, and the model with the text."""
    trace, model = view.trace, view.trace.model
    which = (model.revision or "")[:12] or (f"sha256:{model.weights[:12]}" if model.weights else "")
    text = " ".join((trace.text if trace.pair is None else f"{trace.text} | {trace.pair}").split())
    cut = text if len(text) <= 240 else f"{text[:239]}…"
    truncated = f" · {translate(trace.truncated)}" if trace.truncated else ""
    return (
        " · ".join(
            (
                _("head {layer}-{head}", layer=layer, head=head),
                _("square-root colour scale"),
                _("layers, heads and positions counted from 0"),
            )
        ),
        printable_text(f"{model.name}{f' @ {which}' if which else ''} · “{cut}”{truncated}"),
    )


def color_weights(weights: FloatArray, top: float, signed: bool = False) -> Colors:
    """Return the colours of weights on a square-root scale that ends at ``top``.

    With ``signed``, the scale runs from -top to top in the diverging palette.

    >>> color_weights(np.array([[0.0, 0.5]], np.float32), 0.5).tolist()
    [[[249, 250, 249], [22, 11, 21]]]
    >>> color_weights(np.array([[-0.5, 0.5]], np.float32), 0.5, signed=True).tolist()
    [[[0, 57, 103], [88, 42, 0]]]
    """
    shares = np.nan_to_num(weights) / top
    if signed:
        levels = 127.5 * (1 + np.sign(shares) * np.sqrt(np.clip(np.abs(shares), 0, 1)))
    else:
        levels = 255 * np.sqrt(np.clip(shares, 0, 1))
    colours: Colors = (diverging_ramp() if signed else sequential_ramp())[np.rint(levels).astype(np.uint8)]
    return colours


def _widest_label(cells: Sequence[DisplayToken]) -> float:
    return min(LONGEST, max((width(printable_text(cell.label), LABEL) for cell in cells), default=0))


def _labeled_tokens(count: int, scale: float, focus: int | None) -> list[tuple[int, float]]:
    """Return the index and the middle in pixels of each token that has room for a label, and of the focus."""
    step = max(1, math.ceil(ROOM / scale - 1e-9))
    plain = [at for at in range(0, count, step) if focus is None or at == focus or abs(at - focus) * scale >= ROOM - 1]
    return [(at, (at + 0.5) * scale) for at in sorted({*plain, *([] if focus is None else [focus])})]


def _label(cell: DisplayToken, x: float, y: float, bold: bool, turned: bool) -> Text:
    name = elide_text(printable_text(cell.label), LONGEST, LABEL)
    return Text(name, x, y, LABEL, MUTED if cell.special else INK, "start" if turned else "end", bold, turned)


def _legend(x: float, y: float, top: float, signed: bool) -> list[Shape]:
    anchors: tuple[Anchor, ...] = ("start", "middle", "end")
    values = (-top, 0.0, top) if signed else (0.0, top / 4, top)
    ends = [
        Text(typeset_number(f"{value:.2g}"), x + 160 * share, y + 20, SMALL, MUTED, anchor)
        for value, share, anchor in zip(values, (0, 0.5, 1), anchors, strict=True)
    ]
    bar = Cells(x, y, 160, 10, (diverging_ramp() if signed else sequential_ramp())[None]), Box(x, y, 160, 10, HAIR)
    return [*bar, *ends, Text(_("square-root colour scale"), x + 170, y + 5, SMALL, MUTED)]


def picture_of_heads(view: View) -> StaticPicture:
    """Return the maps of all heads, a row for each layer, with the numbers of layer and head above each map."""
    shapes: list[Shape] = []
    for layer in range(view.layers):
        for head in range(view.heads):
            x, y = head * (HEAD_MAP + GAP), layer * (HEAD_MAP + GAP + LABEL_HEIGHT)
            shapes.append(Text(f"{layer}-{head}", x, y + LABEL_HEIGHT / 2, 9, INK))
            shapes.append(Cells(x, y + LABEL_HEIGHT, HEAD_MAP, HEAD_MAP, color_weights(view.weights(layer, head), 1.0)))
    wide, tall = view.heads * (HEAD_MAP + GAP) - GAP, view.layers * (HEAD_MAP + GAP + LABEL_HEIGHT) - GAP
    return StaticPicture(wide, tall, tuple(shapes), _("All heads"))
