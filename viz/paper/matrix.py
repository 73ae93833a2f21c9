"""A head's map as an image for a paper: labels of at least 7 points that never overlap, and a colour bar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure as PaperFigure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle

from attention.mask import FloatArray
from attention.view import DisplayToken, View, far_pool, max_pool
from i18n import _, typeset_number
from viz.colors import diverging_ramp, sequential_ramp
from viz.export import check_cells
from viz.paper.page import (
    HAIR,
    INK,
    MUTED,
    PaperOptions,
    blank_figure,
    caption_lines,
    paper_font,
    shorten,
    text_width,
)
from viz.static.head import caption, color_weights
from viz.static.shapes import printable_text

FINEST = 400  # cells along a side; a longer map is pooled to its largest weights
TALLEST = 33  # rows that all have a label
LARGEST_CELL = 40.0  # points
LABEL_SHARE = 0.24  # share of the width that a token's label may take
GAP = 3.0  # points between a label and the map
BAR = 6.0  # points, the height of the colour bar


@dataclass(frozen=True)
class LabelPlan:
    """The labels that fit along a side of a map: the indices of their tokens, and the row of each label.

    Row 0 of ``tiers`` is next to the map, and row 1 is farther away.
    """

    indices: tuple[int, ...]
    tiers: tuple[int, ...]


def plan_labels(count: int, pitch: float, line: float, tiers: int = 1) -> LabelPlan:
    """Choose the labels that fit along a side of a map with ``count`` cells, each ``pitch`` points long.

    A label needs ``line`` points. If the cells are shorter and ``tiers`` is 2, the labels alternate between two rows.
    If they do not fit in this way either, some labels are left out at equal distances.

    >>> plan_labels(4, 10, 9), plan_labels(4, 5, 9, tiers=2).tiers, plan_labels(4, 5, 9).indices
    (LabelPlan(indices=(0, 1, 2, 3), tiers=(0, 0, 0, 0)), (0, 1, 0, 1), (0, 2))
    """
    if pitch >= line or tiers == 1 or 2 * pitch < line:
        indices = tuple(range(0, count, max(1, math.ceil(line / pitch - 1e-9))))
        return LabelPlan(indices, (0,) * len(indices))
    return LabelPlan(tuple(range(count)), tuple(index % 2 for index in range(count)))


@dataclass(frozen=True)
class MatrixLayout:
    """The layout of a map on its page, in points: the map's box, the labels, and the caption below."""

    left: float
    above: float
    width: float
    height: float
    rows: LabelPlan
    columns: LabelPlan
    inner: float  # points between the map and the outer tier of column labels
    lines: tuple[str, ...]
    page: tuple[float, float]


def lay_out(view: View, options: PaperOptions, lines: Sequence[str]) -> MatrixLayout:
    """Return the layout of a map with the labels of its tokens; ``lines`` is the caption."""
    line, most = options.size * 1.15, options.points * LABEL_SHARE
    queries, keys = _names(view.queries, options, most), _names(view.keys, options, most)
    left = 2 + line + max((text_width(name, options.size) for name in queries), default=0) + GAP
    cell = min(LARGEST_CELL, (options.points - left - 3) / len(keys))
    columns = plan_labels(len(keys), cell, line, tiers=2)
    depth = [
        max((text_width(keys[at], options.size) for at in _tier(columns, tier)), default=-GAP) + GAP for tier in (0, 1)
    ]
    row = max(cell, line * min(1, TALLEST / len(queries)))
    above = 2 + line + sum(depth)
    height = row * len(queries)
    below = 6 + BAR + line + (4 + options.line * len(lines) if lines else 0) + 4
    return MatrixLayout(
        left,
        above,
        cell * len(keys),
        height,
        plan_labels(len(queries), row, line),
        columns,
        depth[0],
        tuple(lines),
        (options.points, above + height + below),
    )


def _tier(plan: LabelPlan, tier: int) -> list[int]:
    return [index for index, own in zip(plan.indices, plan.tiers, strict=True) if own == tier]


def _names(cells: Sequence[DisplayToken], options: PaperOptions, most: float) -> list[str]:
    return [shorten(printable_text(cell.label), options.size, most) for cell in cells]


def draw_matrix(view: View, layer: int, head: int, options: PaperOptions) -> PaperFigure:
    """Return the image of a head's map: a row for each query, a column for each key, a square-root colour scale.

    ``layer`` and ``head`` count from 0. Raise TooLong beyond MOST_CELLS weights.
    """
    check_cells(view)
    text = " · ".join(caption(view, layer, head)) if options.caption else ""
    layout = lay_out(view, options, caption_lines(text, options.size, options.points - 8))
    figure = blank_figure(*layout.page)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, layout.page[0]), ylim=(layout.page[1], 0))
    axes.axis("off")
    weights = view.weights(layer, head)
    top = float(np.abs(weights).max(initial=0)) or 1.0
    _draw_cells(axes, weights, top, layout, view.is_signed)
    if options.frame:
        box = Rectangle((layout.left, layout.above), layout.width, layout.height, fill=False, edgecolor=MUTED, lw=0.5)
        axes.add_patch(box)
    _draw_labels(axes, view, layout, options)
    _draw_scale(axes, top, layout, options, view.is_signed)
    return figure


def _draw_cells(axes: Axes, weights: FloatArray, top: float, layout: MatrixLayout, signed: bool) -> None:
    """Draw the weights as filled rectangles, which stay sharp in every viewer."""
    if max(weights.shape) > FINEST:
        weights = (far_pool if signed else max_pool)(weights, FINEST)
    rows, columns = weights.shape
    colours = color_weights(weights, top, signed).reshape(-1, 3) / 255
    _draw_rectangles(
        axes,
        layout.left + layout.width * np.arange(columns + 1) / columns,
        layout.above + layout.height * np.arange(rows + 1) / rows,
        colours,
    )


def _draw_rectangles(axes: Axes, x: Any, y: Any, colours: Any) -> None:
    """Draw a grid of cells with the edges ``x`` and ``y``; ``colours`` are (cell, RGB), row by row."""
    left, top = (edges.ravel() for edges in np.meshgrid(x[:-1], y[:-1]))
    right, bottom = (edges.ravel() for edges in np.meshgrid(x[1:], y[1:]))
    corners = np.stack([left, top, right, top, right, bottom, left, bottom], axis=1).reshape(-1, 4, 2)
    # The thin edges cover the seams that viewers draw between filled shapes.
    axes.add_collection(PolyCollection(list(corners), facecolors=colours, edgecolors=colours, linewidths=0.1))


def _draw_labels(axes: Axes, view: View, layout: MatrixLayout, options: PaperOptions) -> None:
    """Draw the tokens next to the map, and the names of the two sides."""
    most, font = options.points * LABEL_SHARE, paper_font(options.size)
    queries, keys = _names(view.queries, options, most), _names(view.keys, options, most)
    row, column = layout.height / len(queries), layout.width / len(keys)
    for at in layout.rows.indices:
        y = layout.above + (at + 0.5) * row
        _draw_text(axes, layout.left - GAP, y, queries[at], font, ha="right", va="center", color=_ink(view.queries[at]))
    leaders = []
    for at, tier in zip(layout.columns.indices, layout.columns.tiers, strict=True):
        x, y = layout.left + (at + 0.5) * column, layout.above - GAP - layout.inner * tier
        _draw_text(axes, x, y, keys[at], font, ha="center", va="bottom", rotation=90, color=_ink(view.keys[at]))
        if tier:
            leaders.append([(x, layout.above - 1), (x, y + 1)])
    axes.add_collection(LineCollection(leaders, colors=HAIR, linewidths=0.4))
    line = options.size * 1.15
    middle = layout.above + layout.height / 2
    _draw_text(axes, 2 + line / 2, middle, _("query"), font, ha="center", va="center", rotation=90, color=MUTED)
    _draw_text(axes, layout.left + layout.width / 2, 2, _("key"), font, ha="center", va="top", color=MUTED)


def _ink(cell: DisplayToken) -> str:
    return MUTED if cell.special else INK


def _draw_text(axes: Axes, x: float, y: float, text: str, font: FontProperties, **style: Any) -> None:
    """Draw a text at a place in points; a "$" in it is no formula."""
    axes.text(x, y, text, fontproperties=font, parse_math=False, rotation_mode="default", **style)


def _draw_scale(axes: Axes, top: float, layout: MatrixLayout, options: PaperOptions, signed: bool) -> None:
    """Draw the colour bar with its ends and middle, and the caption below it."""
    ramp = (diverging_ramp() if signed else sequential_ramp())[::4] / 255
    x, y = layout.left, layout.above + layout.height + 6
    width = max(min(120.0, layout.width), 60.0)
    _draw_rectangles(axes, x + width * np.arange(len(ramp) + 1) / len(ramp), np.array([y, y + BAR]), ramp)
    values = (-top, 0.0, top) if signed else (0.0, top / 4, top)
    font = paper_font(options.size)
    for value, share, side in zip(values, (0, 0.5, 1), ("left", "center", "right"), strict=True):
        name = typeset_number(f"{value:.2g}")
        _draw_text(axes, x + share * width, y + BAR + 2, name, font, ha=side, va="top", color=INK)
    for at, text in enumerate(layout.lines):
        _draw_text(axes, 4, y + BAR + options.size * 1.15 + 6 + at * options.line, text, font, va="top", color=INK)
