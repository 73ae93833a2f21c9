"""A scatter plot of heads by two measures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.head_names import head_label
from attention.mask import FloatArray
from i18n import _
from viz.figures.theme import Figure, Theme, empty, escape_label, line_colors
from viz.figures.vectors import ROOM, free_label_places


def head_scatter(  # noqa: PLR0913  (keyword options of a figure)
    x: FloatArray,
    y: FloatArray,
    axes: tuple[str, str],
    heads: Sequence[tuple[int, int]],
    notes: Sequence[str],
    theme: Theme,
    title: str,
    *,
    selected: tuple[int, int] | None = None,
) -> Figure:
    """Draw heads as points, coloured by layer; a click picks a head as in ``head_maps.head_map``.

    ``x`` and ``y`` are (head,); heads without a value are left out. ``notes`` are plain texts for the tooltip, "" for
    none. The names of heads with a note are drawn if there is room. The selected head has a ring.

    >>> from viz.figures.theme import LIGHT
    >>> values = np.array([0.1, 0.4], np.float32)
    >>> [trace.name for trace in head_scatter(values, values, ("a", "b"), [(0, 0), (1, 0)], ["", ""], LIGHT, "").data]
    ['Layer 0', 'Layer 1']
    """
    figure = empty(theme, title, escape_label(axes[0]), escape_label(axes[1]))
    colours = line_colors(theme)
    known = np.isfinite(x) & np.isfinite(y)
    names = _free_names(x, y, ["" if not note else head_label(*head) for head, note in zip(heads, notes, strict=True)])
    for layer in sorted({layer for layer, _head in heads}):
        mine = [at for at, place in enumerate(heads) if place[0] == layer and known[at]]
        figure.add_scatter(
            name=_("Layer {layer}", layer=layer),
            x=x[mine],
            y=y[mine],
            customdata=[[*heads[at], escape_label(notes[at])] for at in mine],
            meta=_columns([heads[at] for at in mine], [notes[at] for at in mine]),
            text=[names[at][0] for at in mine],
            textposition=[names[at][1] for at in mine],
            textfont={"size": 10, "color": theme.text},
            mode="markers+text",
            marker={"color": colours[layer % len(colours)], "size": 9},
            hovertemplate="%{customdata[0]}-%{customdata[1]}: %{x:.3f}, %{y:.3f} %{customdata[2]}<extra></extra>",
            cliponaxis=False,
        )
    if selected is not None and selected in heads:
        at = list(heads).index(selected)
        ring = {"symbol": "circle-open", "size": 19, "color": theme.accent, "line": {"width": 3}}
        figure.add_scatter(
            x=[x[at]],
            y=[y[at]],
            mode="markers",
            marker=ring,
            meta=_columns([selected], [notes[at]]),
            hoverinfo="skip",
            showlegend=False,
            name=_("Selected head"),
        )
    figure.update_yaxes(rangemode="normal")
    figure.update_layout(height=440, hovermode="closest")
    return figure


def _free_names(x: FloatArray, y: FloatArray, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the name and the text position of each head; the name is "" if it would cover another."""
    found = [("", "top center")] * len(names)
    known = np.flatnonzero(np.isfinite(x) & np.isfinite(y)).tolist()
    if known:
        points = np.column_stack([x[known], y[known]])
        pixels = (points - points.min(axis=0)) / np.maximum(np.ptp(points, axis=0), 1e-12) * ROOM
        for at, place in zip(known, free_label_places(pixels, [names[at] for at in known]), strict=True):
            found[at] = (names[at] if place else "", place or "top center")
    return found


def _columns(heads: Sequence[tuple[int, int]], notes: Sequence[str]) -> dict[str, list[str | int | None]]:
    """Return the columns of the figure's table that name each head and its label."""
    return {
        "layer": [layer for layer, _head in heads],
        "head": [head for _layer, head in heads],
        "label": [note or None for note in notes],
    }
