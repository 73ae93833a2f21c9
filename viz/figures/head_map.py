"""One number per head as a map of layers and heads, on which a head can be picked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.labels import escape_label
from viz.figures.palette import diverging_scale as diverging_scale
from viz.figures.palette import sequential_scale, sides
from viz.figures.theme import ABOVE, BAR, LEGENDS, Theme, add_color_note, color_bar, empty

WIDE, CELL, LEAST = 336, 34, 16  # pixels of a map on a phone, and of a cell at most and at least
HUE = 4 / 3  # the scale's end over the largest of few values: the last colours are nearly black or white
AXIS = 46  # pixels for the names of heads


def head_map(  # noqa: PLR0913  (what a figure may be told, by name)
    values: FloatArray,
    theme: Theme,
    title: str,
    unit: str,
    *,
    diverging: bool = False,
    selected: tuple[int, int] | None = None,
    base: int = 0,
    limit: float | None = None,
    meaning: tuple[str, str] | None = None,
    kinds: Mapping[float, str] | None = None,
) -> go.Figure:
    """Layers downwards, heads to the right, one cell per head; a cell without colour has no number (NaN).

    ``values`` is (layer, head) in ``unit``, which stands under the title. The scale runs from 0 to ``limit``, on a
    ``diverging`` map from -limit to limit, by default the largest size. ``selected`` (layer, head) counts from 0,
    labels from ``base``; it is outlined. ``meaning`` says what less and more than zero mean; it stands
    in the unit's place, with the names of the two colours. A map of few values names each of them in ``kinds``, and has
    a legend in the bar's place.

    A click picks a head: ``st.plotly_chart(figure, on_select=callback, key=key)``, and in the callback
    ``picked_head(st.session_state[key])``. Plotly reports clicks on points only, so an unseen one lies on every cell.
    """
    layers, heads = values.shape
    if kinds is not None:
        limit = HUE * max(map(abs, kinds))
    across, down = np.arange(heads) + base, np.arange(layers) + base
    figure = empty(theme, title, _("Head"), _("Layer"))
    figure.add_heatmap(
        z=values,
        x=across,
        y=down,
        colorscale=diverging_scale(theme) if diverging else sequential_scale(theme),
        **_ends(values, diverging, limit),
        showscale=kinds is None,
        colorbar=color_bar(),
        hovertemplate=_("layer %{y} · head %{x}: %{z:.3g}<extra></extra>"),
        hoverongaps=False,
        xgap=1,
        ygap=1,
    )
    _add_points(figure, theme, values, base)
    if selected is not None:
        y, x = selected[0] + base, selected[1] + base
        ground = sequential_scale(theme)[0][1]
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
    figure.update_layout(showlegend=False, hovermode="closest")
    above, below = (ABOVE + BAR, AXIS) if kinds is None else (ABOVE, LEGENDS)
    if kinds is not None:
        _name(figure, theme, kinds, _ends(values, diverging, limit)["zmax"])
    elif meaning is None:
        add_color_note(figure, theme, unit)
    else:
        add_color_note(figure, theme, "; ".join(map(": ".join, zip(sides(theme), meaning, strict=True))))
    cell = min(CELL, max(LEAST, WIDE // heads))
    figure.update_layout(height=above + below + cell * layers, margin={"t": above, "b": below})
    return figure


def picked_head(event: Any) -> tuple[int, int] | None:
    """(layer, head), from 0, of what ``st.plotly_chart`` returned or keeps in session_state; None where nothing is."""
    try:
        layer, head = event["selection"]["points"][0]["customdata"][:2]
    except (LookupError, TypeError, ValueError):  # no point, or whatever else a browser may tell
        return None
    whole = all(isinstance(place, int | float) and place >= 0 and place == place // 1 for place in (layer, head))
    return (int(layer), int(head)) if whole else None


def _ends(values: FloatArray, diverging: bool, limit: float | None) -> dict[str, float]:
    sizes = np.abs(values[np.isfinite(values)])
    end = limit or float(sizes.max(initial=0)) or 1.0
    return {"zmin": -end if diverging else 0.0, "zmax": end}


def _name(figure: go.Figure, theme: Theme, kinds: Mapping[float, str], end: float) -> None:
    """A legend with a square for each value."""
    scale = diverging_scale(theme)
    for value, name in kinds.items():
        colour = scale[round((value / end + 1) / 2 * (len(scale) - 1))][1]
        square = {"symbol": "square", "size": 12, "color": colour, "line": {"width": 1, "color": theme.grid}}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=square, name=escape_label(name), showlegend=True)
    figure.update_layout(showlegend=True)


def _add_points(figure: go.Figure, theme: Theme, values: FloatArray, base: int) -> None:
    """An unseen point on every cell that has a number."""
    places = np.argwhere(np.isfinite(values))
    unseen = {"marker": {"opacity": 0}}
    figure.add_scatter(
        x=(places[:, 1] + base).tolist(),
        y=(places[:, 0] + base).tolist(),
        customdata=[[int(layer), int(head), float(values[layer, head])] for layer, head in places],
        mode="markers",
        marker={"opacity": 0, "size": 22, "color": theme.heads},
        showlegend=False,
        selected=unseen,
        unselected=unseen,
        hovertemplate=_("layer %{y} · head %{x}: %{customdata[2]:.3g}<extra></extra>"),
    )
