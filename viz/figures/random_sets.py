"""How far one set stands out among random ones."""

from __future__ import annotations

import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.theme import LEGENDS, Theme, empty


def random_sets(changes: FloatArray, chosen: float, theme: Theme, unit: str) -> go.Figure:
    """A histogram of the random sets' changes (set,), and the chosen set's as a line."""
    figure = empty(theme, _("Is it more than chance would do?"), unit, _("Random sets"))
    figure.add_histogram(
        name=_("random sets"),
        x=changes,
        nbinsx=30,
        marker={"color": theme.heads},
        hovertemplate=_("%{x}: %{y} sets<extra></extra>"),
    )
    line = {"color": theme.accent, "width": 3}
    figure.add_vline(x=chosen, line=line, showlegend=True, name=_("the chosen set"))
    figure.update_layout(height=320, margin={"b": LEGENDS}, bargap=0.05)
    return figure
