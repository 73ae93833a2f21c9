"""How often the best head of each relation finds it, beside what it must beat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from i18n import _
from viz.figures.labels import escape_label, truncate
from viz.figures.theme import LEGENDS, Theme, empty

ROW = 26  # pixels


@dataclass(frozen=True)
class RelationScore:
    """One relation: percent found with its interval, the rule without a model, and random weights where known."""

    relation: str
    n: int
    head: str
    accuracy: float
    low: float
    high: float
    baseline: float
    rule: str
    random: float | None
    chance: float | None = None  # percent that a guess between candidates finds


def relation_scores(scores: Sequence[RelationScore], theme: Theme, title: str, selected: str = "") -> go.Figure:
    """Draw a line for each relation, the first on top: a dot with its interval, a bar for the rule.

    A ring marks random weights, and a dotted line chance if it is known and the same for all.

    Relations and heads are text, not markup. ``selected`` is in the accent colour.
    """
    figure = empty(theme, title, _("% found"), "")
    rows = list(range(len(scores)))
    known = [at for at in rows if scores[at].random is not None]
    figure.add_scatter(
        name=_("random weights, best head"),
        x=[scores[at].random for at in known],
        y=known,
        mode="markers",
        marker={"symbol": "circle-open", "size": 9, "color": theme.heads, "line": {"width": 1.5}},
        hovertemplate=_("random weights: %{x:.1f} %<extra></extra>"),
    )
    figure.add_scatter(
        name=_("rule without a model"),
        x=[score.baseline for score in scores],
        y=rows,
        customdata=[escape_label(score.rule) for score in scores],
        mode="markers",
        marker={"symbol": "line-ns", "size": 15, "color": theme.line, "line": {"width": 2.5, "color": theme.line}},
        hovertemplate="%{customdata}: %{x:.1f} %<extra></extra>",
    )
    figure.add_scatter(
        name=_("best head, 95 % interval"),
        x=[score.accuracy for score in scores],
        y=rows,
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [score.high - score.accuracy for score in scores],
            "arrayminus": [score.accuracy - score.low for score in scores],
            "color": theme.heads,
            "thickness": 1.5,
            "width": 4,
        },
        customdata=[[escape_label(score.head), score.low, score.high, score.n] for score in scores],
        mode="markers",
        marker={"size": 10, "color": [theme.accent if s.relation == selected else theme.heads for s in scores]},
        hovertemplate=_(
            "head %{customdata[0]}: %{x:.1f} % (%{customdata[1]:.1f} to %{customdata[2]:.1f}) of "
            "%{customdata[3]} links<extra></extra>"
        ),
    )
    chances = {score.chance for score in scores}
    if len(chances) == 1 and (chance := chances.pop()) is not None:
        figure.add_vline(x=chance, line={"dash": "dot", "width": 1.5, "color": theme.line})
        figure.add_scatter(  # for the legend: a line across the figure has no entry
            name=_("chance, {chance:.0f} %", chance=chance),
            x=[None],
            y=[None],
            mode="lines",
            line={"dash": "dot", "width": 1.5, "color": theme.line},
        )
    names = [f"{escape_label(truncate(score.relation))} · {escape_label(score.head)}" for score in scores]
    figure.update_yaxes(
        tickvals=rows,
        ticktext=names,
        range=[len(rows) - 0.4, -0.6],
        rangemode="normal",
        fixedrange=True,
    )
    figure.update_xaxes(range=[-2, 103], tickvals=list(range(0, 101, 20)), fixedrange=True)
    figure.update_layout(height=150 + ROW * len(scores), margin={"b": LEGENDS})
    return figure
