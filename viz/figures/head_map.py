"""One number per head as a map of layers and heads, on which a head can be picked."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from attention.mask import Array
from viz.figures.labels import plain
from viz.figures.palette import diverging as diverging_scale
from viz.figures.palette import sequential
from viz.figures.theme import Theme, empty

CELL = 34  # pixels of a cell where the page is wide enough
ABOVE = 118  # pixels for the title and the colour bar


def head_map(  # noqa: PLR0913  (what a figure may be told, by name)
    values: Array,
    theme: Theme,
    title: str,
    unit: str,
    *,
    diverging: bool = False,
    selected: tuple[int, int] | None = None,
    base: int = 0,
    limit: float | None = None,
) -> go.Figure:
    """Layers downwards, heads to the right, one cell per head; a cell without colour has no number (NaN).

    ``values`` is (layer, head) in ``unit``, which the colour bar names. The scale runs from 0 to ``limit``, on a
    ``diverging`` map from -limit to limit, by default the largest size. ``selected`` (layer, head) counts from 0,
    labels from ``base``; it is outlined.

    A click picks a head: ``st.plotly_chart(figure, on_select=callback, key=key)``, and in the callback
    ``picked(st.session_state[key])``. Plotly reports clicks on points only, so an unseen one lies on every cell.
    """
    layers, heads = values.shape
    across, down = np.arange(heads) + base, np.arange(layers) + base
    figure = empty(theme, title, "Head", "Layer")
    figure.add_heatmap(
        z=values,
        x=across,
        y=down,
        colorscale=diverging_scale(theme) if diverging else sequential(theme),
        **_ends(values, diverging, limit),
        colorbar=_bar(unit),
        hovertemplate="layer %{y} · head %{x}: %{z:.3g}<extra></extra>",
        hoverongaps=False,
        xgap=1,
        ygap=1,
    )
    _add_points(figure, theme, values, base)
    if selected is not None:
        y, x = selected[0] + base, selected[1] + base
        ground = sequential(theme)[0][1]
        for colour, width in ((ground, 7), (theme.accent, 3)):  # the ground around it: cells may be as orange
            box = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5}
            figure.add_shape(type="rect", **box, line={"color": colour, "width": width})
    axis = {"showgrid": False, "fixedrange": True, "constrain": "domain", "rangemode": "normal"}
    figure.update_xaxes(
        **axis, dtick=max(1, heads // 16), range=[base - 0.5, heads + base - 0.5], constraintoward="left"
    )
    figure.update_yaxes(
        **axis, dtick=max(1, layers // 24), range=[layers + base - 0.5, base - 0.5], constraintoward="top"
    )
    figure.update_yaxes(scaleanchor="x")
    figure.update_layout(height=ABOVE + 46 + CELL * layers, margin={"t": ABOVE}, showlegend=False, hovermode="closest")
    return figure


def picked(event: Any) -> tuple[int, int] | None:
    """(layer, head), from 0, of what ``st.plotly_chart`` returned or keeps in session_state; None where nothing is."""
    points = event["selection"]["points"] if event else []
    if not points:
        return None
    layer, head = points[0]["customdata"][:2]
    return int(layer), int(head)


def _ends(values: Array, diverging: bool, limit: float | None) -> dict[str, float]:
    sizes = np.abs(values[np.isfinite(values)])
    end = limit or float(sizes.max(initial=0)) or 1.0
    return {"zmin": -end if diverging else 0.0, "zmax": end}


def _bar(unit: str) -> dict[str, Any]:
    """Above the map and as long on a phone: beside it, it would stand far off on a wide page."""
    return {
        "orientation": "h",
        "title": {"text": plain(unit), "side": "top"},
        "thickness": 10,
        "lenmode": "pixels",
        "len": 220,
        "x": 0,
        "xanchor": "left",
        "y": 1,
        "yanchor": "bottom",
        "nticks": 5,
        "outlinewidth": 0,
    }


def _add_points(figure: go.Figure, theme: Theme, values: Array, base: int) -> None:
    """An unseen point on every cell that has a number."""
    places = np.argwhere(np.isfinite(values))
    unseen = {"marker": {"opacity": 0}}
    figure.add_scatter(
        x=(places[:, 1] + base).tolist(),
        y=(places[:, 0] + base).tolist(),
        customdata=[[int(layer), int(head), float(values[layer, head])] for layer, head in places],
        mode="markers",
        marker={"opacity": 0, "size": 22, "color": theme.heads},
        selected=unseen,
        unselected=unseen,
        hovertemplate="layer %{y} · head %{x}: %{customdata[2]:.3g}<extra></extra>",
    )
