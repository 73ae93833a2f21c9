"""Two words in two sentences: four probabilities as two groups of bars."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from i18n import _
from viz.figures.labels import escape_label, truncate
from viz.figures.theme import LEGEND, Theme, empty


def two_words(
    sentences: Sequence[str], words: Sequence[str], chances: Sequence[Sequence[float]], theme: Theme
) -> go.Figure:
    """A group of bars for each sentence, one for each word; ``chances`` is (sentence, word)."""
    figure = empty(theme, _("How likely is each word in each sentence?"), _("probability"), "")
    for at, (word, colour) in enumerate(zip(words, (theme.heads, theme.accent), strict=True)):
        values = [row[at] for row in chances]
        figure.add_bar(
            orientation="h",
            x=values,
            y=list(range(len(sentences))),
            name=escape_label(truncate(word)),
            marker={"color": colour},
            text=[f"{value:.2g}" for value in values],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{x:.5g}",
            showlegend=True,
        )
    most = max(max(row) for row in chances)
    figure.update_xaxes(range=[0, 1.15 * most], fixedrange=True)
    figure.update_yaxes(
        tickvals=list(range(len(sentences))),
        ticktext=[_("first sentence"), _("second sentence")][: len(sentences)],
        autorange="reversed",
        rangemode="normal",
        showgrid=False,
        fixedrange=True,
    )
    figure.update_layout(height=290, barmode="group", bargap=0.3, margin={"b": LEGEND})
    return figure
