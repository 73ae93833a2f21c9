"""Heads as points, near where their attention is alike, in groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from i18n import _, ngettext
from viz.figures.labels import escape_label
from viz.figures.palette import line_colors
from viz.figures.theme import LEGENDS, Theme, empty

SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")  # beside the colours
NEAR = 0.035  # of the width: names of points nearer than that to another one would cover it


def similarity_map(  # noqa: PLR0913  (what a figure may be told, by name)
    points: npt.NDArray[np.float64],
    groups: Sequence[int],
    heads: Sequence[tuple[int, int]],
    notes: Sequence[str],
    theme: Theme,
    title: str,
    *,
    selected: tuple[int, int] | None = None,
    base: int = 0,
) -> go.Figure:
    """``points`` (head, 2), to scale on both axes; ``groups`` number each head's from 0; ``heads`` are (layer, head).

    ``notes`` are shown for a head under the pointer, as text. The selected head is ringed. A click picks a head as on
    viz.figures.head_map.
    """
    figure = empty(theme, title, "", "")
    colours = line_colors(theme)
    free = _free(points)
    for group in sorted(set(groups)):
        mine = [at for at, number in enumerate(groups) if number == group]
        figure.add_scatter(
            name=ngettext(
                "group {group}, {n} head", "group {group}, {n} heads", len(mine), group=group + 1, n=len(mine)
            ),
            x=points[mine, 0],
            y=points[mine, 1],
            customdata=[[*heads[at], escape_label(notes[at]), heads[at][0] + base, heads[at][1] + base] for at in mine],
            text=[f"{heads[at][0] + base}-{heads[at][1] + base}" if free[at] else "" for at in mine],
            textposition="top center",
            textfont={"size": 10, "color": theme.text},
            mode="markers+text",
            marker={"color": colours[group % len(colours)], "size": 9, "symbol": SHAPES[group % len(SHAPES)]},
            hovertemplate=_("layer %{customdata[3]} · head %{customdata[4]}: %{customdata[2]}<extra></extra>"),
            cliponaxis=False,
        )
    if selected is not None and selected in heads:
        at = list(heads).index(selected)
        ring = {"symbol": "circle-open", "size": 19, "color": theme.accent, "line": {"width": 3}}
        place = {"x": [points[at, 0]], "y": [points[at, 1]]}
        figure.add_scatter(name=_("selected head"), **place, mode="markers", marker=ring, hoverinfo="skip")
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False, scaleanchor="x", rangemode="normal")
    figure.update_layout(height=560, margin={"b": LEGENDS}, hovermode="closest")
    return figure


def _free(points: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Whether there is room for each point's name, (head,).

    >>> _free(np.array([[0.0, 0.0], [0.01, 0.0], [1.0, 0.0]])).tolist()
    [False, False, True]
    """
    apart = np.abs(points[:, None] - points[None]).max(axis=2) + np.where(np.eye(len(points), dtype=bool), np.inf, 0)
    free: npt.NDArray[np.bool_] = apart.min(axis=1) > NEAR * np.ptp(points, axis=0).max()
    return free
