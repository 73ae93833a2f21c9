"""What distance does to a score: rotary positions, a bias for each head, T5's buckets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from attention.positions import Counts, Numbers
from i18n import _
from viz.figures.labels import escape_label
from viz.figures.palette import line_colors
from viz.figures.theme import Theme, empty

HEIGHT = 360


@dataclass(frozen=True, eq=False)
class RotarySet:
    """One set of rotary angles, over distances."""

    name: str  # "" where there is one set only
    score: Numbers  # (distance,)
    bound: Numbers  # (distance,)


def rotary(turnings: Sequence[RotarySet], theme: Theme, title: str) -> go.Figure:
    """For each set of angles: a full line for a key equal to the query, a dotted one for the paper's bound."""
    figure = empty(theme, title, _("Distance (tokens)"), _("Share of the value at distance 0"))
    for turning, colour in zip(turnings, line_colors(theme), strict=False):
        distances = np.arange(len(turning.score))
        more = f" ({escape_label(turning.name)})" if turning.name else ""
        for name, values, dash in (
            (_("score of an equal key"), turning.score, "solid"),
            (_("the paper's bound"), turning.bound, "dot"),
        ):
            figure.add_scatter(
                name=name + more,
                x=distances,
                y=np.asarray(values, np.float32),
                mode="lines",
                line={"color": colour, "width": 2, "dash": dash},
                hovertemplate=_("%{x} apart: %{y:.3f}"),
            )
    return _set_axes(figure)


def by_head(  # noqa: PLR0913  (what a figure may be told, by name)
    offsets: Counts, values: FloatArray | Numbers, head: int, theme: Theme, title: str, *, base: int = 0
) -> go.Figure:
    """What is added to a score at each offset (key minus query), a line for each head, the chosen one on top.

    ``values`` is (head, offset); ``head`` counts from 0, labels from ``base``.
    """
    figure = empty(theme, title, _("Key minus query (tokens)"), _("Added to the score"))
    others = [at for at in range(len(values)) if at != head]
    for at in (*others, head):
        chosen = at == head
        figure.add_scatter(
            name=_("head {head}", head=at + base),
            x=offsets,
            y=np.asarray(values[at], np.float32),
            mode="lines",
            line={"color": theme.accent if chosen else theme.heads, "width": 3 if chosen else 1},
            opacity=1 if chosen else 0.55,
            hovertemplate=_("head {head}, %{{x:+d}}: %{{y:.3f}}<extra></extra>", head=at + base),
            showlegend=chosen or at == others[0],
        )
        if not chosen and at == others[0]:
            figure.data[-1].name = _("the other heads")
    return _set_axes(figure)


def buckets(offsets: Counts, found: Counts, theme: Theme, title: str) -> go.Figure:
    """Which of the learned numbers each offset gets: one step a bucket."""
    figure = empty(theme, title, _("Key minus query (tokens)"), _("Bucket"))
    figure.add_scatter(
        x=offsets,
        y=found,
        mode="lines",
        line={"color": theme.heads, "width": 2, "shape": "hvh"},
        hovertemplate=_("%{x:+d}: bucket %{y}<extra></extra>"),
        showlegend=False,
    )
    return _set_axes(figure)


def _set_axes(figure: go.Figure) -> go.Figure:
    return figure.update_layout(height=HEIGHT).update_yaxes(rangemode="normal")
