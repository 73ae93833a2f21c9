"""Figures with a cell or a point for each head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _, translate
from i18n.lists import format_semicolon_list
from viz.figures.theme import (
    ABOVE,
    BAR,
    LEGENDS,
    Theme,
    add_color_note,
    color_at,
    color_bar,
    empty,
    escape_label,
    ink_on,
    line_colors,
    sequential_scale,
    sides,
    truncate,
)
from viz.figures.theme import diverging_scale as diverging_scale

WIDE, CELL, LEAST = 336, 34, 16  # pixels: width of a map on a phone, and the largest and smallest cell
HUE = 4 / 3  # the scale's end over the largest of few values, since its last colours are nearly black or white
AXIS = 46  # pixels for the numbers of heads


def head_map(  # noqa: PLR0913  (keyword options of a figure)
    values: FloatArray,
    theme: Theme,
    title: str,
    unit: str,
    *,
    diverging: bool = False,
    selected: tuple[int, int] | None = None,
    limit: float | None = None,
    meaning: tuple[str, str] | None = None,
    kinds: Mapping[float, str] | None = None,
) -> go.Figure:
    """Draw a value for each head as a coloured cell, layers downwards, heads to the right; NaN has no colour.

    ``values`` is (layer, head) in ``unit``, which is printed under the title. The scale runs from 0 to ``limit``, or
    from -limit to limit if ``diverging``; the default limit is the largest absolute value. ``selected`` (layer, head)
    counts from 0 and is outlined. ``meaning`` explains values below and above zero; the explanation and the names of
    both colours replace the unit. ``kinds`` names the values of a map with few distinct values; a legend then replaces
    the colour bar.

    A click picks a head: ``st.plotly_chart(figure, on_select=callback, key=key)``, and in the callback
    ``picked_head(st.session_state[key])``. Plotly reports clicks on points only, so every cell has an invisible point.
    """
    layers, heads = values.shape
    if kinds is not None:
        limit = HUE * max(map(abs, kinds))
    across, down = np.arange(heads), np.arange(layers)
    figure = empty(theme, title, _("Head"), _("Layer"))
    figure.add_heatmap(
        z=values,
        x=across,
        y=down,
        colorscale=diverging_scale(theme) if diverging else sequential_scale(theme),
        **_ends(values, diverging, limit),
        showscale=kinds is None,
        colorbar=color_bar(),
        hovertemplate=_("head %{y}-%{x}: %{z:.3g}<extra></extra>"),
        hoverongaps=False,
        xgap=1,
        ygap=1,
    )
    _add_points(figure, theme, values)
    if selected is not None:
        y, x = selected[0], selected[1]
        ground = sequential_scale(theme)[0][1]
        for colour, width in (
            (ground, 7),
            (theme.accent, 3),
        ):  # a border in the ground's colour, since cells may be as orange as the frame
            box = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5}
            figure.add_shape(type="rect", **box, line={"color": colour, "width": width})
    axis = {"showgrid": False, "fixedrange": True, "constrain": "domain", "rangemode": "normal"}
    figure.update_xaxes(**axis, dtick=max(1, heads // 16), range=[-0.5, heads - 0.5], constraintoward="left")
    figure.update_yaxes(**axis, dtick=max(1, layers // 24), range=[layers - 0.5, -0.5], constraintoward="top")
    figure.update_yaxes(scaleanchor="x")
    figure.update_layout(showlegend=False, hovermode="closest")
    above, below = (ABOVE + BAR, AXIS) if kinds is None else (ABOVE, LEGENDS)
    if kinds is not None:
        _name(figure, theme, kinds, _ends(values, diverging, limit)["zmax"])
    elif meaning is None:
        add_color_note(figure, theme, unit)
    else:
        said = [_("{name}: {text}", name=side, text=text) for side, text in zip(sides(theme), meaning, strict=True)]
        add_color_note(figure, theme, translate(format_semicolon_list(said)))
        figure.update_layout(meta={"z": (unit, ())})  # tables name the numbers, which the note does not
    cell = min(CELL, max(LEAST, WIDE // heads))
    figure.update_layout(height=above + below + cell * layers, margin={"t": above, "b": below})
    return figure


def picked_head(event: Any) -> tuple[int, int] | None:
    """Return the (layer, head) that was clicked, from a selection event of ``st.plotly_chart``, or None."""
    try:
        layer, head = event["selection"]["points"][0]["customdata"][:2]
    except (LookupError, TypeError, ValueError):  # no point is picked, or the browser sent an unexpected value
        return None
    whole = all(isinstance(place, int | float) and place >= 0 and place == place // 1 for place in (layer, head))
    return (int(layer), int(head)) if whole else None


def _ends(values: FloatArray, diverging: bool, limit: float | None) -> dict[str, float]:
    sizes = np.abs(values[np.isfinite(values)])
    end = limit or float(sizes.max(initial=0)) or 1.0
    return {"zmin": -end if diverging else 0.0, "zmax": end}


def _name(figure: go.Figure, theme: Theme, kinds: Mapping[float, str], end: float) -> None:
    """Add a legend with a square for each value."""
    scale = diverging_scale(theme)
    for value, name in kinds.items():
        colour = scale[round((value / end + 1) / 2 * (len(scale) - 1))][1]
        square = {"symbol": "square", "size": 12, "color": colour, "line": {"width": 1, "color": theme.grid}}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=square, name=escape_label(name), showlegend=True)
    figure.update_layout(showlegend=True)


def _add_points(figure: go.Figure, theme: Theme, values: FloatArray) -> None:
    """Add an invisible point on each cell that has a number."""
    places = np.argwhere(np.isfinite(values))
    unseen = {"marker": {"opacity": 0}}
    figure.add_scatter(
        x=places[:, 1].tolist(),
        y=places[:, 0].tolist(),
        customdata=[[int(layer), int(head), float(values[layer, head])] for layer, head in places],
        mode="markers",
        marker={"opacity": 0, "size": 22, "color": theme.heads},
        showlegend=False,
        selected=unseen,
        unselected=unseen,
        hovertemplate=_("head %{y}-%{x}: %{customdata[2]:.3g}<extra></extra>"),
    )


def mark_heads(figure: go.Figure, places: Sequence[tuple[int, int]], symbol: str, theme: Theme, column: str) -> None:
    """Draw ``symbol`` on some heads of a head map, given as pairs (layer, head); it does not catch clicks.

    ``column`` is the meaning of the mark, such as "above baseline", and names its column in the figure's data.
    """
    if not places:
        return
    figure.add_scatter(
        x=[head for _, head in places],
        y=[layer for layer, _ in places],
        mode="markers",
        marker={"symbol": symbol, "size": 13, "color": theme.accent, "line": {"width": 2, "color": theme.accent}},
        meta=column,
        hoverinfo="skip",
    )


SIGNS = {
    "previous": "←",
    "next": "→",
    "same": "↻",
    "first": "⇤",
    "separator": "¶",
    "repeat": "=",
    "broad": "∗",
}
LONGEST = 5  # characters of a relation's name in a cell


def role_map(  # noqa: PLR0913  (keyword options of a figure)
    shares: FloatArray,
    roles: Sequence[Sequence[str]],
    relations: Sequence[Sequence[str]],
    theme: Theme,
    title: str,
    *,
    selected: tuple[int, int] | None = None,
) -> go.Figure:
    """Draw a cell for each head, with a sign for its role above the name of the relation that it finds.

    ``shares`` is (layer, head), the part of the attention that fits the role, 0 to 1, NaN for a head without a role.
    ``roles`` and ``relations`` are indexed by layer and head; "" means none. Relations are text, not markup.
    """
    figure = head_map(shares, theme, title, _("share of attention"), selected=selected, limit=1.0)
    places = [(layer, head) for layer in range(len(roles)) for head in range(len(roles[layer]))]
    figure.add_scatter(
        x=[head for _, head in places],
        y=[layer for layer, _ in places],
        text=[_sign(roles[layer][head], relations[layer][head]) for layer, head in places],
        mode="text",
        textfont={"size": 11, "color": [_ink(shares[place], theme) for place in places]},
        hoverinfo="skip",
    )
    return figure


def _sign(role: str, relation: str) -> str:
    """Return the HTML of a cell's text.

    >>> _sign("previous", ""), _sign("", "obj"), _sign("", "")
    ('<span style="font-size:16px">←</span>', 'obj', '')
    """
    sign = f'<span style="font-size:{13 if relation else 16}px">{SIGNS[role]}</span>' if role else ""
    return "<br>".join(part for part in (sign, escape_label(truncate(relation, LONGEST))) if part)


def _ink(share: float, theme: Theme) -> str:
    """Return black or white, the readable text colour on the cell; NaN has the colour of share 0."""
    return ink_on(color_at(sequential_scale(theme), float(np.nan_to_num(share))))


SHAPES = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "cross",
    "x",
    "star",
    "hexagon",
)  # markers, which distinguish groups in addition to the colours
NEAR = 0.035  # the distance, as a share of the width, at which a point's label no longer covers its neighbour


def similarity_map(  # noqa: PLR0913  (keyword options of a figure)
    points: npt.NDArray[np.float64],
    groups: Sequence[int],
    heads: Sequence[tuple[int, int]],
    notes: Sequence[str],
    theme: Theme,
    title: str,
    *,
    selected: tuple[int, int] | None = None,
) -> go.Figure:
    """Draw heads as points (head, 2), coloured by group; both axes have the same scale.

    ``groups`` contains the group of each head, from 0; ``heads`` are (layer, head). ``notes`` are plain text, shown
    when the pointer is on a head. The selected head has a ring. A click picks a head as in ``head_map``.
    """
    figure = empty(theme, title, "", "")
    colours = line_colors(theme)
    free = _free(points)
    for group in sorted(set(groups)):
        mine = [at for at, number in enumerate(groups) if number == group]
        figure.add_scatter(
            name=_("group {group} ({n})", group=group + 1, n=len(mine)),
            x=points[mine, 0],
            y=points[mine, 1],
            customdata=[[*heads[at], escape_label(notes[at])] for at in mine],
            meta={
                "layer": [heads[at][0] for at in mine],
                "head": [heads[at][1] for at in mine],
                "roles": [notes[at] for at in mine],
            },
            text=[f"{heads[at][0]}-{heads[at][1]}" if free[at] else "" for at in mine],
            textposition="top center",
            textfont={"size": 10, "color": theme.text},
            mode="markers+text",
            marker={"color": colours[group % len(colours)], "size": 9, "symbol": SHAPES[group % len(SHAPES)]},
            hovertemplate=_("head %{customdata[0]}-%{customdata[1]}: %{customdata[2]}<extra></extra>"),
            cliponaxis=False,
        )
    if selected is not None and selected in heads:
        at = list(heads).index(selected)
        ring = {"symbol": "circle-open", "size": 19, "color": theme.accent, "line": {"width": 3}}
        place = {"x": [points[at, 0]], "y": [points[at, 1]]}
        figure.add_scatter(name=_("Selected head"), **place, mode="markers", marker=ring, hoverinfo="skip")
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False, scaleanchor="x", rangemode="normal")
    figure.update_layout(height=560, margin={"b": LEGENDS}, hovermode="closest")
    return figure


def _free(points: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return a Boolean for each head, shape (head,): True if its label has room.

    >>> _free(np.array([[0.0, 0.0], [0.01, 0.0], [1.0, 0.0]])).tolist()
    [False, False, True]
    """
    apart = np.abs(points[:, None] - points[None]).max(axis=2) + np.where(np.eye(len(points), dtype=bool), np.inf, 0)
    free: npt.NDArray[np.bool_] = apart.min(axis=1) > NEAR * np.ptp(points, axis=0).max()
    return free
