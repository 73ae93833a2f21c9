"""What one token gives to others in two readings: two marks a word, and a line between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.labels import escape_label, truncate
from viz.figures.theme import Theme, empty

ROW = 24  # pixels of a word


def two_readings(  # noqa: PLR0913  (what a figure may be told, by name)
    words: Sequence[str],
    first: FloatArray,
    second: FloatArray,
    names: tuple[str, str],
    theme: Theme,
    title: str,
    *,
    marked: int | None = None,
) -> go.Figure:
    """Words downwards, weights (word,) to the right from 0; no mark where a reading has no such word (NaN).

    ``names`` call the two readings in the legend; the word ``marked`` is written in the accent's colour.
    """
    figure = empty(theme, title, _("weight"), "")
    down = np.arange(len(words))
    both = np.flatnonzero(np.isfinite(first) & np.isfinite(second))
    between = np.full(3 * len(both), np.nan)
    between[::3], between[1::3] = first[both], second[both]
    figure.add_scatter(
        x=between.tolist(),
        y=np.repeat(down[both], 3).tolist(),
        mode="lines",
        line={"color": theme.grid, "width": 4},
        hoverinfo="skip",
        showlegend=False,
    )
    for name, values, colour, symbol in (
        (names[0], first, theme.heads, "circle"),
        (names[1], second, theme.accent, "diamond"),
    ):
        there = np.flatnonzero(np.isfinite(values))
        figure.add_scatter(
            name=escape_label(name),
            x=values[there].tolist(),
            y=down[there].tolist(),
            customdata=[escape_label(words[at]) for at in there.tolist()],
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 10, "line": {"color": theme.line, "width": 1}},
            hovertemplate="%{customdata}: %{x:.4f}",
        )
    most = float(np.nanmax([*first, *second, 0.1]))
    figure.update_xaxes(range=[-0.02 * most, 1.05 * most], rangemode="normal", fixedrange=True)
    figure.update_yaxes(
        tickvals=down.tolist(),
        ticktext=[_word_label(word, theme.accent if at == marked else "") for at, word in enumerate(words)],
        range=[len(words) - 0.4, -0.6],
        rangemode="normal",
        showgrid=False,
        fixedrange=True,
    )
    return figure.update_layout(height=150 + ROW * len(words), margin={"b": 60})


def _word_label(word: str, colour: str) -> str:
    """A word as a label, in a colour where one is given.

    >>> _word_label("<b>", ""), _word_label("it", "#d55e00")
    ('&lt;b&gt;', '<b style="color:#d55e00">it</b>')
    """
    label = escape_label(truncate(word, 22))
    return f'<b style="color:{colour}">{label}</b>' if colour else label
