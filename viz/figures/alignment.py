"""Cross-attention as a matrix: what each target word looks at in the source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.labels import escape_label, truncate
from viz.figures.palette import sequential_scale
from viz.figures.theme import Theme, color_bar, empty

ROW, LEAST, TALLEST = 26, 14, 860  # pixels of a row: of few words, of many; and of all rows
BELOW = 84  # pixels for the colour bar
LONGEST = 16  # characters of a label
TICKS = 60  # labels on an axis; beyond, every second, third … is written
POINTS = 4000  # cells up to which a click picks


def alignment_map(  # noqa: PLR0913  (what a figure may be told, by name)
    weights: FloatArray,
    target: Sequence[str],
    source: Sequence[str],
    theme: Theme,
    title: str,
    *,
    chosen: int | None = None,
    strongest: Sequence[int | None] = (),
) -> go.Figure:
    """Source words to the right, target words downwards as they are written, a cell for each pair.

    ``weights`` is (target, source), each between 0 and 1, which is the colour scale too. ``strongest`` is each row's
    largest source word, marked by a dot; the row ``chosen`` is framed. Words are text, not markup.

    A click picks a target word: ``st.plotly_chart(figure, on_select=callback, key=key)``, and in the callback
    ``picked_pair(st.session_state[key])``; not in a matrix of more than POINTS cells, since each needs an unseen point.
    """
    figure = empty(theme, title, _("Source"), _("Translation"))
    down, across = [_label(word) for word in target], [_label(word) for word in source]
    figure.add_heatmap(
        z=np.round(weights.astype(np.float64), 4),
        colorscale=sequential_scale(theme),
        zmin=0.0,
        zmax=1.0,
        colorbar={
            **color_bar(),
            "title": {"text": _("attention weight"), "side": "top"},
            "y": 0,
            "yanchor": "top",
            "ypad": 16,
        },
        customdata=[[[row, column] for column in across] for row in down],
        hovertemplate=_("%{customdata[0]} looks at %{customdata[1]}: %{z:.3f}<extra></extra>"),
        xgap=1 if len(source) <= TICKS else 0,
        ygap=1 if len(target) <= TICKS else 0,
    )
    if weights.size <= POINTS:
        _add_points(figure, theme, weights, down, across)
    _mark_largest(figure, theme, strongest, chosen, len(source))
    _label_axes(figure, down, across)
    above = 70 + 8 * min(LONGEST, max(map(len, source), default=0))
    figure.update_layout(
        height=above + BELOW + max(LEAST, min(ROW, TALLEST // max(1, len(target)))) * len(target),
        margin={"t": above, "b": BELOW, "l": 8, "r": 8},
        title={"y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 12}},
        showlegend=False,
        hovermode="closest",
    )
    return figure


def picked_pair(event: Any) -> tuple[int, int] | None:
    """(target, source) of what ``st.plotly_chart`` returned or keeps in session_state; None where nothing is."""
    points = event["selection"]["points"] if event else []
    if not points or not points[0].get("customdata"):
        return None
    row, column = points[0]["customdata"][:2]
    return int(row), int(column)


def _label(word: str) -> str:
    """A word as a label that does not turn the text around it, whichever way it is read.

    >>> _label("<b>")
    '\\u2068&lt;b&gt;\\u2069'
    """
    return f"\u2068{escape_label(truncate(word, LONGEST))}\u2069"


def _add_points(
    figure: go.Figure, theme: Theme, weights: FloatArray, down: Sequence[str], across: Sequence[str]
) -> None:
    """An unseen point on every cell: plotly reports clicks on points only."""
    rows, columns = np.indices(weights.shape).reshape(2, -1).tolist()
    unseen = {"marker": {"opacity": 0}}
    figure.add_scatter(
        x=columns,
        y=rows,
        customdata=[
            [row, column, down[row], across[column], float(weights[row, column])]
            for row, column in zip(rows, columns, strict=True)
        ],
        mode="markers",
        marker={"opacity": 0, "size": 18, "color": theme.heads},
        selected=unseen,
        unselected=unseen,
        hovertemplate=_("%{customdata[2]} looks at %{customdata[3]}: %{customdata[4]:.3f}<extra></extra>"),
    )


def _mark_largest(
    figure: go.Figure, theme: Theme, strongest: Sequence[int | None], chosen: int | None, sources: int
) -> None:
    """A dot on each row's largest source word, and a frame around the chosen row."""
    places = [(row, column) for row, column in enumerate(strongest) if column is not None]
    ground = sequential_scale(theme)[0][1]
    figure.add_scatter(
        x=[column for _, column in places],
        y=[row for row, _ in places],
        mode="markers",
        marker={"size": 8, "color": theme.accent, "line": {"width": 1.5, "color": ground}},
        hoverinfo="skip",
    )
    if chosen is not None:
        box = {"x0": -0.5, "x1": sources - 0.5, "y0": chosen - 0.5, "y1": chosen + 0.5}
        figure.add_shape(type="rect", **box, line={"color": theme.accent, "width": 2.5})


def _label_axes(figure: go.Figure, down: Sequence[str], across: Sequence[str]) -> None:
    """Every label where there are few, else every second, third …"""
    for labels, update in ((across, figure.update_xaxes), (down, figure.update_yaxes)):
        step = max(1, -(-len(labels) // TICKS))
        places = list(range(0, len(labels), step))
        update(tickvals=places, ticktext=labels[::step], showgrid=False, fixedrange=True, ticks="")
    figure.update_xaxes(side="top", tickangle=-60, range=[-0.5, len(across) - 0.5])
    figure.update_yaxes(range=[len(down) - 0.5, -0.5], rangemode="normal")
