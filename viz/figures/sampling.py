"""What a rule of sampling does to the likeliest next tokens: before and after, and how far their sum has come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from i18n import _
from viz.figures.labels import escape_label, truncate
from viz.figures.theme import LEGEND, Theme, empty

ROW = 30  # pixels of one token


def before_after(  # noqa: PLR0913  (what a figure may be told, by name)
    labels: Sequence[str],
    own: Sequence[float],
    drawn: Sequence[float],
    theme: Theme,
    title: str,
    *,
    marked: Sequence[int] = (),
) -> go.Figure:
    """Horizontal bars, the likeliest on top: ``own`` by the model alone, ``drawn`` under the rule as a mark across.

    ``labels`` are text, not markup, and may repeat; what cannot be drawn has its mark at zero. The names of ``marked``
    ones are in bold.
    """
    rows = list(range(len(labels)))
    figure = empty(theme, title, _("probability"), "")
    names = [escape_label(label) for label in labels]
    figure.add_bar(
        name=_("the model"),
        orientation="h",
        x=list(own),
        y=rows,
        marker={"color": theme.heads},
        customdata=names,
        hovertemplate=_("%{customdata}: %{x:.4g}<extra>the model</extra>"),
    )
    figure.add_scatter(
        name=_("under the rule"),
        x=list(drawn),
        y=rows,
        mode="markers",
        marker={
            "symbol": "line-ns-open",
            "size": 20,
            "line": {"width": 4, "color": theme.accent},
            "color": theme.accent,
        },
        customdata=names,
        hovertemplate=_("%{customdata}: %{x:.4g}<extra>under the rule</extra>"),
        cliponaxis=False,
    )
    short = [escape_label(truncate(label)) for label in labels]
    figure.update_yaxes(
        tickvals=rows,
        ticktext=[f"<b>{name}</b>" if at in marked else name for at, name in enumerate(short)],
        range=[len(rows) - 0.4, -0.6],
        rangemode="normal",
        fixedrange=True,
        showgrid=False,
    )
    figure.update_xaxes(range=[0, 1.08 * max([*own, *drawn, 0]) or 1], fixedrange=True, zeroline=False)
    return figure.update_layout(height=130 + ROW * len(rows), bargap=0.3, showlegend=True, hovermode="closest")


def cumulative(own: Sequence[float], drawn: Sequence[float], kept: int, theme: Theme, title: str) -> go.Figure:
    """The sum of the probabilities of the likeliest n tokens over n, by the model alone and under the rule.

    ``own`` and ``drawn`` are those of the likeliest few, the likeliest first; ``kept`` is how many the rule leaves,
    a dotted line where the figure reaches that far.
    """
    ranks = list(range(1, len(own) + 1))
    figure = empty(theme, title, _("the likeliest n tokens"), _("sum of probabilities"))
    for name, values, colour, dash in (
        (_("the model"), own, theme.heads, "solid"),
        (_("under the rule"), drawn, theme.accent, "dash"),
    ):
        figure.add_scatter(
            name=name,
            x=ranks,
            y=np.cumsum(np.asarray(values, np.float64)).tolist(),
            mode="lines",
            line={"color": colour, "dash": dash, "width": 2.5},
            hovertemplate=_("the likeliest %{x}: %{y:.4f}"),
        )
    if kept <= len(ranks):
        line = {"dash": "dot", "color": theme.line, "width": 1.5}
        figure.add_vline(x=kept, line=line, showlegend=True, name=_("the rule keeps {kept}", kept=kept))
    steps = [n for n in (1, 2, 5, 10, 20, 50, 100) if n <= len(ranks)]
    span = [-0.03, float(np.log10(max(len(ranks), 2))) + 0.03]
    figure.update_xaxes(type="log", range=span, tickvals=steps, ticktext=[str(n) for n in steps], fixedrange=True)
    figure.update_yaxes(range=[0, 1.04], fixedrange=True)
    return figure.update_layout(height=330, margin={"b": LEGEND}, hovermode="x", showlegend=True)
