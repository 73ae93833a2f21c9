"""Two answers to the same question, word by word, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.labels import escape_label, truncate
from viz.figures.theme import LEGEND, Theme, empty

MOST = 60  # words that are drawn


def importance(words: Sequence[str], ways: Mapping[str, FloatArray], theme: Theme, unit: str) -> go.Figure:
    """A group of bars for each word, in the text's order, one bar a way; each way's values are (word,) in ``unit``.

    Beyond MOST words the first MOST are drawn.
    """
    shown = words[:MOST]
    figure = empty(theme, _("How much does each word speak for the answer?"), unit, "")
    for (name, values), colour in zip(ways.items(), (theme.heads, theme.accent), strict=False):
        figure.add_bar(
            orientation="h",
            x=values[: len(shown)].tolist(),
            y=list(range(len(shown))),
            name=escape_label(name),
            marker={"color": colour},
            customdata=[escape_label(word) for word in shown],
            hovertemplate="%{customdata}: %{x:.3f}",
            showlegend=True,
        )
    figure.update_xaxes(zeroline=True, zerolinecolor=theme.line, zerolinewidth=1, fixedrange=True)
    figure.update_yaxes(
        tickvals=list(range(len(shown))),
        ticktext=[escape_label(truncate(word)) for word in shown],
        autorange="reversed",
        rangemode="normal",
        showgrid=False,
        fixedrange=True,
    )
    figure.update_layout(height=150 + 34 * len(shown), barmode="group", bargap=0.25, margin={"b": LEGEND})
    return figure
