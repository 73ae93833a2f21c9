"""What is lost without a part: every seed a mark, their mean a larger one, what was trained on and beyond."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from i18n import _
from viz.figures.labels import escape_label
from viz.figures.theme import LEGENDS, Theme, empty

BESIDE = 0.16  # of a row, between the two kinds of marks


def ablated_parts(
    kinds: Mapping[str, Mapping[str, Sequence[float]]], theme: Theme, title: str, unit: str, chance: float
) -> go.Figure:
    """A row for each name, the first on top. ``kinds`` are at most two: kind → name → a value of each seed, 0 to 1.

    >>> from viz.figures.theme import LIGHT
    >>> figure = ablated_parts({"near": {"whole": (1.0, 0.9), "no norm": (0.4, 0.2)}}, LIGHT, "Parts", "share", 0.5)
    >>> figure.data[1].x
    (0.95, 0.3)
    """
    figure = empty(theme, title, escape_label(unit), "")
    names = list(next(iter(kinds.values())))
    looks = zip(kinds.items(), ((theme.heads, "circle"), (theme.accent, "diamond")), strict=False)
    for at, ((kind, values), (colour, symbol)) in enumerate(looks):
        height = BESIDE * (2 * at - (len(kinds) - 1))
        points = [(value, row + height) for row, name in enumerate(names) for value in values[name]]
        figure.add_scatter(
            x=[value for value, _ in points],
            y=[place for _, place in points],
            mode="markers",
            marker={"symbol": f"{symbol}-open", "size": 7, "color": colour},
            showlegend=False,
            hovertemplate=_("one seed: %{x:.2f}<extra></extra>"),
            cliponaxis=False,
        )
        figure.add_scatter(
            name=escape_label(kind),
            x=[round(float(np.mean(values[name])), 6) for name in names],
            y=[row + height for row in range(len(names))],
            mode="markers",
            marker={"symbol": symbol, "size": 12, "color": colour},
            customdata=[escape_label(name) for name in names],
            hovertemplate=_("%{customdata}, mean: %{x:.2f}"),
            cliponaxis=False,
        )
    line = {"dash": "dot", "color": theme.line, "width": 1.5}
    figure.add_vline(x=chance, line=line, showlegend=True, name=_("guessing: {chance:.2f}", chance=chance))
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=[escape_label(name) for name in names],
        range=[len(names) - 0.5, -0.5], rangemode="normal", fixedrange=True,
    )  # fmt: skip
    figure.update_xaxes(range=[0, 1.02], fixedrange=True)
    return figure.update_layout(height=150 + 40 * len(names), margin={"b": LEGENDS})
