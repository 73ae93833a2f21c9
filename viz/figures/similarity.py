"""A figure of the cosine similarity of two texts, as lines between their words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from i18n import _
from viz.figures.theme import Figure, Theme, color_at, diverging_scale, empty, escape_label, truncate

MOST_LINES = 40  # pairs of words with a line, the largest ones
WIDEST = 9.0  # pixels of the widest line
LINE_ROW = 26  # pixels of a word's row
TINTS = 0.1, 0.9  # places of the colours of negative and positive lines on the diverging scale


def word_lines(
    table: npt.NDArray[np.float64], words: tuple[Sequence[str], Sequence[str]], theme: Theme, title: str
) -> Figure:
    """Draw the words of two texts as columns, and lines between the pairs with the largest values.

    ``table`` is (word of A, word of B); at most MOST_LINES lines are drawn. The width of a line is proportional to the
    absolute value, and its colour shows the sign. Negative lines are also dashed. ``words`` are text, not markup.

    >>> from viz.figures.theme import LIGHT
    >>> figure = word_lines(np.array([[0.5, -0.1]]), (["cat"], ["dog", "<b>"]), LIGHT, "t")
    >>> [round(trace.line.width, 1) for trace in figure.data if trace.mode == "lines"]
    [1.8, 9.0]
    """
    figure = empty(theme, title, "", "")
    scale = diverging_scale(theme)
    most = float(np.abs(table).max(initial=0)) or 1.0
    for place in np.argsort(-np.abs(table), axis=None, kind="stable")[:MOST_LINES][::-1]:
        row, column = (int(at) for at in np.unravel_index(place, table.shape))
        value = float(table[row, column])
        figure.add_scatter(
            x=[0.03, 0.5, 0.97],
            y=[row, (row + column) / 2, column],
            mode="lines",
            line={
                "width": WIDEST * abs(value) / most,
                "color": color_at(scale, TINTS[value > 0]),
                "dash": "solid" if value >= 0 else "dash",
            },
            opacity=0.35 + 0.6 * abs(value) / most,
            customdata=[[escape_label(words[0][row]), escape_label(words[1][column]), value]] * 3,
            hovertemplate=_("%{customdata[0]} and %{customdata[1]}: %{customdata[2]:.3f}<extra></extra>"),
        )
    for x, names, side in ((0, words[0], "middle left"), (1, words[1], "middle right")):
        figure.add_scatter(
            x=[x] * len(names),
            y=list(range(len(names))),
            text=[escape_label(truncate(name)) for name in names],
            mode="text",
            textposition=side,
            textfont={"color": theme.text},
            hoverinfo="skip",
            cliponaxis=False,
        )
    tallest = max(map(len, words))
    hidden = {"visible": False, "fixedrange": True, "rangemode": "normal"}
    figure.update_xaxes(**hidden, range=[-0.55, 1.55])
    figure.update_yaxes(**hidden, range=[tallest - 0.4, -0.6])
    return figure.update_layout(height=70 + LINE_ROW * tallest, showlegend=False, hovermode="closest")
