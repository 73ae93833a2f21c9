"""What each word's vector carries from one text into another, layer by layer, as a map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.labels import escape_label, truncate
from viz.figures.palette import diverging_scale, sides
from viz.figures.theme import ABOVE, BAR, Theme, add_color_note, color_bar, empty

ROW = 30  # pixels
WORDS = 96  # pixels for the words, written upwards
LONGEST = 14  # characters of a word


def patching_map(  # noqa: PLR0913  (what a figure may be told, by name)
    shares: FloatArray,
    words: Sequence[str],
    theme: Theme,
    title: str,
    *,
    beyond: FloatArray | None = None,
    selected: tuple[int, int] | None = None,
    base: int = 0,
) -> go.Figure:
    """Layers downwards, words to the right; the last row is a word in every layer at once.

    ``shares`` is (layer + 1, word), how far each brings the answer to the other text's: 0 not at all, 1 all the way.
    ``beyond`` (layer + 1, word) says which of them get a dot; ``selected`` (row, word) is framed. A click picks a cell
    as it does in ``head_map``, by ``picked`` of that module. Words are text, not markup.

    >>> from viz.figures.theme import LIGHT
    >>> figure = patching_map(np.eye(3, 2, dtype=np.float32), ["it", "<b>"], LIGHT, "t", base=1)
    >>> figure.layout.yaxis.ticktext, figure.layout.xaxis.ticktext[1]
    (('into layer 1', 'into layer 2', 'every layer'), '&lt;b&gt;')
    """
    rows, many = shares.shape
    end = float(np.nanmax(np.abs(shares), initial=0.0)) or 1.0
    names = [*(_("into layer {layer}", layer=at + base) for at in range(rows - 1)), _("every layer")]
    labels = [escape_label(truncate(word, LONGEST)) for word in words]
    figure = empty(theme, title, "", "")
    figure.add_heatmap(
        z=shares,
        colorscale=diverging_scale(theme),
        zmin=-end,
        zmax=end,
        colorbar=color_bar(),
        hoverinfo="skip",
        xgap=1,
        ygap=1,
    )
    _points(figure, theme, shares, names, words)
    if beyond is not None and beyond.any():
        down, across = np.nonzero(beyond)
        dot = {"symbol": "circle", "size": 6, "color": theme.text, "line": {"width": 1, "color": theme.grid}}
        figure.add_scatter(x=across.tolist(), y=down.tolist(), mode="markers", marker=dot, hoverinfo="skip")
    if selected is not None:
        row, word = selected
        box = {"x0": word - 0.5, "x1": word + 0.5, "y0": row - 0.5, "y1": row + 0.5}
        figure.add_shape(type="rect", **box, line={"color": theme.accent, "width": 3})
    axis = {"showgrid": False, "fixedrange": True, "rangemode": "normal"}
    figure.update_xaxes(**axis, tickvals=list(range(many)), ticktext=labels, tickangle=-90)
    figure.update_yaxes(**axis, tickvals=list(range(rows)), ticktext=names, range=[rows - 0.5, -0.5])
    less, more = sides(theme)
    add_color_note(
        figure, theme, _("{less}: away from the second text's answer; {more}: towards it", less=less, more=more)
    )
    figure.update_layout(
        height=ABOVE + BAR + WORDS + ROW * rows,
        margin={"t": ABOVE + BAR, "b": WORDS},
        showlegend=False,
        hovermode="closest",
    )
    return figure


def _points(figure: go.Figure, theme: Theme, shares: FloatArray, names: Sequence[str], words: Sequence[str]) -> None:
    """An unseen point on every cell that has a number, for clicks and for what is said of it."""
    places = np.argwhere(np.isfinite(shares))
    unseen = {"marker": {"opacity": 0}}
    figure.add_scatter(
        x=places[:, 1].tolist(),
        y=places[:, 0].tolist(),
        customdata=[[int(row), int(word), float(shares[row, word])] for row, word in places],
        text=[f"{escape_label(words[word])}, {names[row]}" for row, word in places],
        mode="markers",
        marker={"opacity": 0, "size": 22, "color": theme.heads},
        selected=unseen,
        unselected=unseen,
        hovertemplate="%{text}: %{customdata[2]:.3g}<extra></extra>",
    )
