"""How the cost of layer types grows with the length of the text, on two logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.complexity import Values
from i18n import _
from viz.figures.labels import escape_label
from viz.figures.palette import line_colors
from viz.figures.theme import Theme, empty

HEIGHT = 360
DASHES = ("solid", "dash", "dot", "dashdot")
WIDTHS = (5, 3.5, 2.5, 2)  # curves that lie on each other all stay visible


def growth(  # noqa: PLR0913  (what a figure may be told, by name)
    n: Values, curves: Sequence[tuple[str, Values]], theme: Theme, title: str, unit: str, marked: int
) -> go.Figure:
    """One line for each layer type over n; ``marked`` is the n that the page speaks of.

    ``curves`` are names with values in ``unit``, (length,), all above zero.
    """
    figure = empty(theme, title, _("Tokens n"), unit)
    for at, (name, values) in enumerate(curves):
        figure.add_scatter(
            name=escape_label(name),
            x=n,
            y=values,
            mode="lines",
            line={"color": line_colors(theme)[at], "width": WIDTHS[at % 4], "dash": DASHES[at % 4]},
            hovertemplate="n = %{x:,.0f}: %{y:,.4~g}",
        )
    line = {"dash": "dot", "color": theme.line, "width": 1.5}
    figure.add_vline(x=marked, line=line, showlegend=True, name=f"n = {marked:,}")
    figure.update_xaxes(type="log", range=[0, 1.02 * float(np.log10(n[-1]))], dtick=1, exponentformat="power")
    least, most = min(float(v.min()) for _, v in curves), max(float(v.max()) for _, v in curves)
    bottom, top = np.log10(least), np.log10(most)
    room = 0.06 * (top - bottom) or 0.1
    every = max(1, round((top - bottom) / 6))  # decades from one number to the next
    axis = {"type": "log", "range": [bottom - room, top + room], "rangemode": "normal", "dtick": every}
    figure.update_yaxes(**axis, exponentformat="power", title_standoff=6)
    return figure.update_layout(height=HEIGHT, margin={"b": 8})
