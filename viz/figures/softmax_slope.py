"""How steep a softmax is, as d_k grows: with scores over √d_k and without."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.toy_example import Numbers
from i18n import _
from viz.figures.theme import Theme, empty


def softmax_slope(widths: Sequence[int], over: Numbers, plain: Numbers, theme: Theme, marked: int) -> go.Figure:
    """Two lines over d_k, (width,) each: the sum of a·(1 − a) of a row; ``marked`` is the d_k that the page speaks of.

    >>> from viz.figures.theme import LIGHT
    >>> [line.name for line in softmax_slope([1, 4], np.array([0.5, 0.5]), np.array([0.5, 0.2]), LIGHT, 4).data][:2]
    ['scores over √d_k', 'scores as they are']
    """
    figure = empty(theme, _("How steep is the softmax?"), "d_k", _("Sum of a·(1 − a), mean"))
    lines = (
        (_("scores over √d_k"), over, theme.heads, "solid"),
        (_("scores as they are"), plain, theme.accent, "dash"),
    )
    for name, values, colour, dash in lines:
        figure.add_scatter(
            name=name,
            x=list(widths),
            y=values,
            mode="lines+markers",
            line={"color": colour, "width": 3, "dash": dash},
            hovertemplate="d_k = %{x}: %{y:.3f}",
        )
    line = {"dash": "dot", "color": theme.line, "width": 1.5}
    figure.add_vline(x=marked, line=line, showlegend=True, name=_("d_k = {width} here", width=marked))
    ticks = [width for width in widths if np.log2(width) % 2 == 0]
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{width:,}" for width in ticks])
    top = float(np.max([over.max(), plain.max()]))
    return figure.update_yaxes(range=[0, 1.08 * top]).update_layout(height=340)
