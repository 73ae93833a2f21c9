"""How sure a model was, and how often it was right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from i18n import _
from viz.figures.theme import ABOVE, LEGENDS, Theme, add_color_note, empty

ROW = 34  # pixels
FEW = 10  # answers below which a bar is pale: its length says little


@dataclass(frozen=True)
class Bin:
    """Answers that were told about as surely, from ``start`` to ``end``; shares are 0 to 1, the interval 95 %."""

    start: float
    end: float
    answers: int
    sure: float  # mean
    right: float
    low: float
    high: float


def calibration(bins: Sequence[Bin], theme: Theme, title: str) -> go.Figure:
    """A bar for each bin, the surest on top: the share that is right, with its interval, and a mark at the mean
    sureness. Bar and mark end at the same place where the model is right as often as it is sure.

    >>> from viz.figures.theme import LIGHT
    >>> calibration([Bin(0.9, 1, 1200, 0.97, 0.95, 0.9, 0.98)], LIGHT, "t").layout.yaxis.ticktext
    ('0.9 to 1 · 1,200',)
    """
    rows = list(range(len(bins)))
    ordered = sorted(bins, key=lambda one: -one.start)
    figure = empty(theme, title, _("share that is right"), "")
    add_color_note(figure, theme, _("Names: how sure · how many answers"))
    figure.add_bar(
        name=_("right, with its 95 % interval"),
        orientation="h",
        x=[one.right for one in ordered],
        y=rows,
        marker={"color": theme.heads, "opacity": [0.35 if one.answers < FEW else 1.0 for one in ordered]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [one.high - one.right for one in ordered],
            "arrayminus": [one.right - one.low for one in ordered],
            "color": theme.line,
            "thickness": 1.5,
            "width": 4,
        },
        customdata=[[one.low, one.high, one.answers] for one in ordered],
        hovertemplate=_(
            "right: %{x:.3f} (%{customdata[0]:.3f} to %{customdata[1]:.3f}) of %{customdata[2]:,}<extra></extra>"
        ),
    )
    figure.add_scatter(
        name=_("how sure, on average"),
        x=[one.sure for one in ordered],
        y=rows,
        mode="markers",
        marker={
            "symbol": "line-ns-open",
            "size": 24,
            "line": {"width": 4, "color": theme.accent},
            "color": theme.accent,
        },
        hovertemplate=_("sure: %{x:.3f}<extra></extra>"),
        cliponaxis=False,
    )
    figure.update_yaxes(
        tickvals=rows,
        ticktext=[
            _("{start:g} to {end:g} · {answers:,}", start=one.start, end=one.end, answers=one.answers)
            for one in ordered
        ],
        range=[len(rows) - 0.4, -0.6],
        rangemode="normal",
        fixedrange=True,
        showgrid=False,
    )
    figure.update_xaxes(range=[0, 1.02], fixedrange=True)
    return figure.update_layout(
        height=150 + ROW * len(rows),
        margin={"t": ABOVE + 10, "b": LEGENDS},
        bargap=0.35,
        showlegend=True,
        hovermode="closest",
    )
