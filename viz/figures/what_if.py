"""How widely each head of a layer spreads its attention, under the model's rules and under others."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.theme import Theme, empty


def what_if(before: FloatArray, after: FloatArray, theme: Theme, *, head: int, base: int = 0) -> go.Figure:
    """Entropies (head,) in bits before and after, two marks a head with a line between them; ``head`` is outlined."""
    figure = empty(theme, _("How widely does each head of this layer look?"), _("Head"), _("Mean entropy (bits)"))
    places = np.arange(len(before)) + base
    line = {"color": theme.grid, "width": 3}
    for place, low, high in zip(places, before, after, strict=True):
        figure.add_scatter(x=[place, place], y=[low, high], mode="lines", line=line, hoverinfo="skip", showlegend=False)
    hover = _("head %{x}: %{y:.2f} bits<extra></extra>")
    for name, values, colour, symbol in (
        (_("as the model computes"), before, theme.heads, "circle"),
        (_("under these rules"), after, theme.accent, "diamond"),
    ):
        sizes = np.where(np.arange(len(values)) == head, 14, 9)
        marker = {"color": colour, "symbol": symbol, "size": sizes, "line": {"color": theme.line, "width": 1}}
        figure.add_scatter(name=name, x=places, y=values, mode="markers", marker=marker, hovertemplate=hover)
    figure.update_xaxes(dtick=max(1, len(before) // 16))
    figure.update_yaxes(range=[0, max(float(np.max([before, after])), 0.1) * 1.12])
    return figure
