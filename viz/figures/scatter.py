"""Vectors as points in two or three dimensions, named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from viz.figures.labels import escape_label, truncate
from viz.figures.theme import ABOVE, Theme, empty

NAMED = 60  # points up to which names stand beside them, where there is room; all have theirs in the hover text
LONGEST = 20  # characters of a name beside its point
EDGE = 0.15  # of the width, left free at both sides for names
ROOM, LETTER = (600, 400), 7  # pixels, roughly: of a plot between wide and narrow pages, and of a letter


def scatter(  # noqa: PLR0913  (what a figure may be told, by name)
    points: FloatArray,
    names: Sequence[str],
    axes: Sequence[str],
    theme: Theme,
    title: str,
    *,
    marked: int | None = None,
    pale: Sequence[int] = (),
) -> go.Figure:
    """``points`` is (point, 2 or 3); distances are to scale along all ``axes``, which name what they show.

    ``names`` are text, not markup. ``marked`` is in the accent colour, ``pale`` ones recede.
    """
    figure = empty(theme, title, escape_label(axes[0]), escape_label(axes[1]))
    groups = {
        "pale": [at for at in range(len(names)) if at in set(pale) and at != marked],
        "plain": [at for at in range(len(names)) if at not in set(pale) and at != marked],
        "marked": [] if marked is None else [marked],
    }
    looks: dict[str, dict[str, Any]] = {
        "pale": {"color": theme.heads, "size": 7, "opacity": 0.35},
        "plain": {"color": theme.heads, "size": 8, "opacity": 0.85},
        "marked": {"color": theme.accent, "size": 12, "opacity": 1},
    }
    solid = points.shape[1] == 3
    beside = _label_places(points, names, solid)
    add = figure.add_scatter3d if solid else figure.add_scatter
    for group, places in groups.items():
        if places:
            look = {**looks[group], "size": looks[group]["size"] // (2 if solid else 1)}
            add(
                **_points(points[places], [names[at] for at in places], [beside[at] for at in places], theme),
                marker=look,
            )
    if solid:
        _axes_3d(figure, theme, axes)
    else:
        _axes_2d(figure, points)
    figure.update_layout(height=520, showlegend=False, hovermode="closest")
    return figure


def _axes_2d(figure: go.Figure, points: FloatArray) -> None:
    """Two axes without numbers, to the same scale, with room at both sides for names."""
    figure.update_yaxes(scaleanchor="x", rangemode="normal", showticklabels=False)
    low, high = float(points[:, 0].min()), float(points[:, 0].max())
    edge = EDGE * (high - low) or 1.0
    figure.update_xaxes(range=[low - edge, high + edge], showticklabels=False)


def _label_places(points: FloatArray, names: Sequence[str], solid: bool) -> list[str]:
    """Where each point's name stands, "" where it would cover another: then it is in the hover text only."""
    if len(names) > NAMED:
        return [""] * len(names)
    if solid:
        return ["top center"] * len(names)
    spans = np.ptp(points, axis=0)
    places = points * min(ROOM[0] / max(spans[0], 1e-12), ROOM[1] / max(spans[1], 1e-12))  # about pixels
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    found: list[str] = []
    for (x, y), name in zip(places, names, strict=True):
        wide = LETTER * len(truncate(name, LONGEST))
        boxes = {
            "top center": (x - wide / 2, y + 6, x + wide / 2, y + 20),
            "bottom center": (x - wide / 2, y - 20, x + wide / 2, y - 6),
            "middle right": (x + 7, y - 7, x + 7 + wide, y + 7),
            "middle left": (x - 7 - wide, y - 7, x - 7, y + 7),
        }
        free = [where for where, box in boxes.items() if not any(_overlap(box, other) for other in taken)]
        found.append(free[0] if free else "")
        taken += [boxes[free[0]]] if free else []
    return found


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _points(points: FloatArray, names: Sequence[str], beside: Sequence[str], theme: Theme) -> dict[str, Any]:
    return {
        **dict(zip("xyz", points.T, strict=False)),
        **({} if points.shape[1] == 3 else {"cliponaxis": False}),
        "mode": "markers+text" if any(beside) else "markers",
        "text": [
            escape_label(truncate(name, LONGEST)) if where else "" for name, where in zip(names, beside, strict=True)
        ],
        "textposition": [where or "top center" for where in beside],
        "textfont": {"color": theme.text, "size": 12},
        "customdata": [escape_label(truncate(name, 120)) for name in names],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _axes_3d(figure: go.Figure, theme: Theme, axes: Sequence[str]) -> None:
    """Three axes without numbers: only distances mean something."""
    plain_axis = {"showticklabels": False, "gridcolor": theme.grid, "zeroline": False, "showbackground": False}
    scene = {
        f"{letter}axis": {**plain_axis, "title": {"text": escape_label(name), "font": {"size": 12}}}
        for letter, name in zip("xyz", axes, strict=True)
    }
    away = {"eye": {"x": 1.5, "y": 1.5, "z": 0.9}}
    figure.update_layout(
        scene={**scene, "aspectmode": "data", "camera": away}, margin={"l": 0, "r": 0, "t": ABOVE, "b": 0}
    )
