"""One number while heads are removed one after the other: in a chosen order, and in random orders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.labels import escape_label
from viz.figures.theme import LEGENDS, Theme, empty


def removal_curve(  # noqa: PLR0913
    values: FloatArray, names: Sequence[str], random: FloatArray, theme: Theme, title: str, unit: str
) -> go.Figure:
    """``values`` (step,) with nothing removed first; ``names`` (step - 1,) says which head each step removed.

    ``random`` is (order, step): the mean is a line, the span from least to most a band.
    """
    figure = empty(theme, title, _("Heads removed"), unit)
    if random.size:
        steps = np.arange(random.shape[1])
        low, high = random.min(axis=0), random.max(axis=0)
        figure.add_scatter(
            name=_("random orders, least to most of {orders}", orders=len(random)),
            x=[*steps, *steps[::-1]],
            y=[*high, *low[::-1]],
            fill="toself",
            mode="none",
            fillcolor=_make_pale(theme.heads),
            hoverinfo="skip",
        )
        figure.add_scatter(
            name=_("random orders, mean"),
            x=steps,
            y=random.mean(axis=0),
            mode="lines",
            line={"color": theme.heads, "width": 2, "dash": "dash"},
            hovertemplate=_("%{x} heads removed at random: %{y:.3f} on average<extra></extra>"),
        )
    figure.add_scatter(
        name=_("one head chosen at each step"),
        x=np.arange(len(values)),
        y=values,
        customdata=[_("nothing"), *(escape_label(name) for name in names)],
        mode="lines+markers",
        line={"color": theme.accent, "width": 2},
        marker={"size": 5},
        hovertemplate=_("%{x} removed, last %{customdata}: %{y:.3f}<extra></extra>"),
    )
    figure.update_yaxes(rangemode="normal")
    figure.update_layout(height=420, margin={"b": LEGENDS})
    return figure


def _make_pale(colour: str) -> str:
    """The colour, mostly seen through."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.18)"
