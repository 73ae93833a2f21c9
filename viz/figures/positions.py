"""Figures of positional encodings and their effect on scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from attention.positions import ByDistance, Counts, Numbers
from i18n import _
from viz.figures.theme import Theme, empty, escape_label, line_colors

POSITIONS_HEIGHT = 330


def curves(vectors: Numbers, dimensions: Sequence[int], theme: Theme, title: str) -> go.Figure:
    """Draw chosen dimensions of position vectors (position, dimension) as lines over the position.

    Eight dimensions have distinct colours; further dimensions repeat them.
    """
    figure = empty(theme, title, _("Position"), _("Number in the vector"))
    colours = line_colors(theme)
    for at, dimension in enumerate(dimensions):
        figure.add_scatter(
            name=_("dimension {dimension}", dimension=dimension),
            x=np.arange(len(vectors)),
            y=np.asarray(vectors[:, dimension], np.float32),
            mode="lines",
            line={"color": colours[at % len(colours)], "width": 2},
            hovertemplate=_("position %{x}: %{y:.3f}"),
        )
    return _set_axes(figure)


def products(found: ByDistance, theme: Theme, title: str) -> go.Figure:
    """Draw the dot product of position vectors by the distance of their positions.

    A line is the mean of all pairs, and a band shows the range from the lowest to the highest pair.
    """
    figure = empty(theme, title, _("Distance (positions)"), _("Dot product"))
    distances = np.arange(len(found.mean))
    bound = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_scatter(x=distances, y=np.asarray(found.lowest, np.float32), showlegend=False, **bound)
    figure.add_scatter(
        name=_("lowest to highest pair"),
        x=distances,
        y=np.asarray(found.highest, np.float32),
        fill="tonexty",
        fillcolor=_make_pale(theme.heads),
        **bound,
    )
    figure.add_scatter(
        name=_("mean of all pairs"),
        x=distances,
        y=np.asarray(found.mean, np.float32),
        customdata=np.stack([found.lowest, found.highest], axis=1).astype(np.float32),
        mode="lines",
        line={"color": theme.heads, "width": 2},
        hovertemplate=_("%{x} apart: %{y:.2f}, from %{customdata[0]:.2f} to %{customdata[1]:.2f}<extra></extra>"),
    )
    # The product of a vector with itself (distance 0) may be far larger, so the axis is fitted to the pairs.
    low, high = float(found.lowest.min()), float(max(found.mean.max(), found.highest[1:].max(initial=0)))
    room = 0.05 * (high - low) or 1.0
    return _set_axes(figure).update_yaxes(range=[low - room, high + room])


def similarity(cosines: Numbers, theme: Theme, title: str) -> go.Figure:
    """Draw the cosine similarity of each position's vector and the next, shape (position - 1,)."""
    figure = empty(theme, title, _("Position"), _("Cosine with the next position"))
    figure.add_scatter(
        x=np.arange(len(cosines)),
        y=np.asarray(cosines, np.float32),
        mode="lines",
        line={"color": theme.heads, "width": 2},
        hovertemplate=_("positions %{x} and the next: %{y:.3f}<extra></extra>"),
        showlegend=False,
    )
    figure = _set_axes(figure)
    return figure.update_yaxes(range=[min(0.0, float(cosines.min(initial=0))) - 0.05, 1.05])


def _set_axes(figure: go.Figure) -> go.Figure:
    return figure.update_layout(height=POSITIONS_HEIGHT).update_yaxes(rangemode="normal")


def _make_pale(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.25)"


POSITIONS_SCORES_HEIGHT = 360


@dataclass(frozen=True, eq=False)
class RotarySet:
    """Two curves over the distance of query and key, for a set of rotary angles; both start at 1.

    ``score`` (distance,) is the score of a key that equals the query, and ``bound`` (distance,) the paper's upper bound
    on scores (``attention.positions``), each relative to distance 0.
    """

    name: str  # "" if there is a single set
    score: Numbers  # (distance,)
    bound: Numbers  # (distance,)


def rotary(turnings: Sequence[RotarySet], theme: Theme, title: str) -> go.Figure:
    """Draw the two curves of each set of rotary angles by distance.

    The score of an equal key is a solid line, and the decay of the upper bound is dotted; both start at 1.
    """
    figure = empty(theme, title, _("Distance (tokens)"), _("Relative to distance 0"))
    for turning, colour in zip(turnings, line_colors(theme), strict=False):
        distances = np.arange(len(turning.score))
        more = f" ({escape_label(turning.name)})" if turning.name else ""
        for name, values, dash in (
            (_("score of an equal key"), turning.score, "solid"),
            (_("bound's decay"), turning.bound, "dot"),
        ):
            figure.add_scatter(
                name=name + more,
                x=distances,
                y=np.asarray(values, np.float32),
                mode="lines",
                line={"color": colour, "width": 2, "dash": dash},
                hovertemplate=_("%{x} apart: %{y:.3f}"),
            )
    return _set_score_axes(figure)


def by_head(
    offsets: Counts,
    values: FloatArray | Numbers,
    head: int,
    theme: Theme,
    title: str,
) -> go.Figure:
    """Draw the position bias that is added to scores at each offset (key minus query), a line per head.

    ``values`` is (head, offset). ``head`` counts from 0 and is drawn on top.
    """
    figure = empty(theme, title, _("Key minus query (tokens)"), _("Added to the score"))
    others = [at for at in range(len(values)) if at != head]
    for at in (*others, head):
        chosen = at == head
        figure.add_scatter(
            name=_("head {head}", head=at),
            x=offsets,
            y=np.asarray(values[at], np.float32),
            mode="lines",
            line={"color": theme.accent if chosen else theme.heads, "width": 3 if chosen else 1},
            opacity=1 if chosen else 0.55,
            hovertemplate=_("head {head}, %{{x:+d}}: %{{y:.3f}}<extra></extra>", head=at),
            showlegend=chosen or at == others[0],
        )
        if not chosen and at == others[0]:
            figure.data[-1].name = _("Other heads")
    return _set_score_axes(figure)


def buckets(offsets: Counts, found: Counts, theme: Theme, title: str) -> go.Figure:
    """Draw the bucket, the index of a learned bias, of each offset (key minus query) as a step function."""
    figure = empty(theme, title, _("Key minus query (tokens)"), _("Bucket"))
    figure.add_scatter(
        x=offsets,
        y=found,
        mode="lines",
        line={"color": theme.heads, "width": 2, "shape": "hvh"},
        hovertemplate=_("%{x:+d}: bucket %{y}<extra></extra>"),
        showlegend=False,
    )
    return _set_score_axes(figure)


def _set_score_axes(figure: go.Figure) -> go.Figure:
    return figure.update_layout(height=POSITIONS_SCORES_HEIGHT).update_yaxes(rangemode="normal")
