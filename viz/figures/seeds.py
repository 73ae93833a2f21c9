"""The same curve of several seeds: thin lines, and their mean a thick one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.labels import escape_label
from viz.figures.palette import line_colors
from viz.figures.theme import LEGENDS, Theme, empty, reference

LOOKS = (("circle", "solid"), ("square", "dash"), ("diamond", "dot"), ("triangle-up", "dashdot"))
MANY = 16  # points beyond which a line has no marks


@dataclass(frozen=True, eq=False)
class Curve:
    """Values of one kind at the places ``x``: (seed, place)."""

    name: str
    x: Sequence[float]
    values: FloatArray


def seeds(  # noqa: PLR0913  (what a figure may be told, by name)
    curves: Sequence[Curve],
    theme: Theme,
    title: str,
    x: str,
    y: str,
    *,
    trained: int | None = None,
    chance: float | None = None,
    logarithmic: str = "",
) -> go.Figure:
    """One colour, mark and dash a curve, and the same colour for its seeds.

    Up to ``trained`` is what was trained on; ``chance`` is a line across; ``logarithmic`` names axes, "y" or "xy". What
    is 0 has no place on a logarithmic axis and is left out.

    >>> from viz.figures.theme import LIGHT
    >>> figure = seeds([Curve("LSTM", [1, 2], np.array([[0.2, 0.4], [0.4, 0.8]]))], LIGHT, "Right", "Distance", "share")
    >>> len(figure.data), [round(float(value), 2) for value in figure.data[-1].y]
    (3, [0.3, 0.6])
    """
    figure = empty(theme, title, escape_label(x), escape_label(y))
    for at, (curve, (symbol, dash)) in enumerate(zip(curves, LOOKS, strict=False)):
        colour = line_colors(theme)[at]
        values = np.where(curve.values > 0, curve.values, np.nan) if "y" in logarithmic else curve.values
        if len(values) > 1:
            for row in values:
                line = {"color": colour, "width": 1, "dash": dash}
                figure.add_scatter(x=curve.x, y=row, mode="lines", line=line, opacity=0.45, showlegend=False,
                                   legendgroup=str(at), hoverinfo="skip")  # fmt: skip
        figure.add_scatter(
            name=escape_label(curve.name),
            x=curve.x,
            y=values.mean(axis=0),
            mode="lines" if len(curve.x) > MANY else "lines+markers",
            line={"color": colour, "width": 3, "dash": dash},
            marker={"symbol": symbol, "size": 9},
            cliponaxis=False,
            legendgroup=str(at),
            hovertemplate="%{x}: %{y:.3~g}",
        )
    if trained is not None:
        line = {"dash": "dot", "color": theme.line, "width": 1.5}
        figure.add_vline(x=trained, line=line, showlegend=True, name=_("trained on up to {trained}", trained=trained))
    if chance is not None:
        reference(figure, theme, chance, _("guessing: {chance:.2f}", chance=chance))
    for axis in logarithmic:
        figure.update_layout({f"{axis}axis": {"type": "log", "exponentformat": "power", "rangemode": "normal"}})
    if "x" in logarithmic:
        places = sorted({float(place) for curve in curves for place in curve.x})
        figure.update_xaxes(tickvals=places, ticktext=[f"{place:,g}" for place in places])
    return figure.update_layout(height=380, margin={"b": LEGENDS})
