"""One word in several contexts, level by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.labels import escape_label
from viz.figures.theme import Theme, empty

MARKS = (("circle", "solid"), ("square", "dash"), ("diamond", "dot"))


def context_lines(
    pairs: Mapping[str, FloatArray], baseline: FloatArray, levels: Sequence[str], theme: Theme, word: str
) -> go.Figure:
    """A line for each pair of contexts: the cosine of the word's two vectors at each level, all (level,).

    ``baseline`` is the mean cosine of different words at each level; ``pairs`` has at most three.
    """
    figure = empty(theme, _("How alike is “{word}” to itself in another context?", word=word), "", _("Cosine"))
    colours = (theme.accent, theme.heads, theme.line)
    places = list(range(len(levels)))
    for (name, values), colour, (symbol, dash) in zip(pairs.items(), colours, MARKS, strict=False):
        figure.add_scatter(
            name=escape_label(name),
            x=places,
            y=values,
            mode="lines+markers",
            line={"color": colour, "width": 2, "dash": dash},
            marker={"color": colour, "size": 8, "symbol": symbol},
            hovertemplate="%{y:.3f}",
        )
    figure.add_scatter(
        name=_("different words, mean"),
        x=places,
        y=baseline,
        mode="lines",
        line={"color": theme.line, "width": 1.5, "dash": "dot"},
        hovertemplate="%{y:.3f}",
    )
    least = min(0.0, float(baseline.min()), *(float(values.min()) for values in pairs.values()))
    figure.update_yaxes(range=[least - 0.02 if least < 0 else 0, 1.03])
    figure.update_xaxes(
        tickvals=places, ticktext=[escape_label(level) for level in levels], tickangle=-45, showgrid=False
    )
    figure.update_xaxes(range=[-0.7, len(levels) - 0.7])
    figure.update_layout(height=440, hovermode="x unified")
    return figure
