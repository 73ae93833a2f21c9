"""Figures of vectors and alignments: scatter plots, matrices, and lines between similar words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.theme import (
    ABOVE,
    BAR,
    Figure,
    Theme,
    add_cell_text,
    add_color_note,
    color_at,
    color_bar,
    diverging_scale,
    empty,
    escape_label,
    sequential_scale,
    sides,
    truncate,
)

NAMED = 60  # points up to which names are drawn next to them if there is room; every hover text has the name
SCATTER_LONGEST = 20  # characters of a name next to its point
EDGE = 0.15  # the share of the width that is left free at each side for names
MOST_LINES = 40  # pairs of words with a line, the largest ones
WIDEST = 9.0  # pixels of the widest line
LINE_ROW = 26  # pixels of a word's row
TINTS = 0.1, 0.9  # places of the colours of negative and positive lines on the diverging scale
ROOM, LETTER = (600, 400), 7  # approximate pixels of a plot, between wide and narrow pages, and of a letter


def scatter(  # noqa: PLR0913  (keyword options of a figure)
    points: FloatArray,
    names: Sequence[str],
    axes: Sequence[str],
    theme: Theme,
    title: str,
    *,
    marked: int | None = None,
    pale: Sequence[int] = (),
) -> go.Figure:
    """Draw points (point, 2 or 3) with their names; all axes have the same scale.

    ``axes`` are the names of the axes; ``names`` are text, not markup. The point with the index ``marked`` has the
    accent colour, and those in ``pale`` are more transparent.
    """
    figure = empty(theme, title, escape_label(axes[0]), escape_label(axes[1]))
    groups = _point_groups(len(names), marked, pale)
    looks: dict[str, dict[str, Any]] = {
        "pale": {"color": theme.heads, "size": 7, "opacity": 0.35},
        "plain": {"color": theme.heads, "size": 8, "opacity": 0.85},
        "marked": {"color": theme.accent, "size": 12, "opacity": 1},
    }
    solid = points.shape[1] == 3
    beside = _label_places(points, names, solid)
    add = figure.add_scatter3d if solid else figure.add_scatter
    for group, places in groups.items():
        if places:
            look = {**looks[group], "size": looks[group]["size"] // (2 if solid else 1)}
            add(
                **_points(points[places], [names[at] for at in places], [beside[at] for at in places], theme),
                marker=look,
            )
    if solid:
        _axes_3d(figure, theme, axes)
    else:
        _axes_2d(figure, points)
    figure.update_layout(height=520, showlegend=False, hovermode="closest")
    return figure


def drawing_order(count: int, marked: int | None = None, pale: Sequence[int] = ()) -> list[int]:
    """Return the indices of ``count`` points in the order in which ``scatter`` draws them.

    >>> drawing_order(4, 1, [2])
    [2, 0, 3, 1]
    """
    return [at for places in _point_groups(count, marked, pale).values() for at in places]


def _point_groups(count: int, marked: int | None, pale: Sequence[int]) -> dict[str, list[int]]:
    return {
        "pale": [at for at in range(count) if at in set(pale) and at != marked],
        "plain": [at for at in range(count) if at not in set(pale) and at != marked],
        "marked": [] if marked is None else [marked],
    }


def _axes_2d(figure: go.Figure, points: FloatArray) -> None:
    """Give both axes the same scale and no numbers, with room at both sides for names."""
    figure.update_yaxes(scaleanchor="x", rangemode="normal", showticklabels=False)
    low, high = float(points[:, 0].min()), float(points[:, 0].max())
    edge = EDGE * (high - low) or 1.0
    figure.update_xaxes(range=[low - edge, high + edge], showticklabels=False)


def _label_places(points: FloatArray, names: Sequence[str], solid: bool) -> list[str]:
    """Return the plotly text position of each name; "" if there is no free place or too many names."""
    if len(names) > NAMED:
        return [""] * len(names)
    if solid:
        return ["top center"] * len(names)
    spans = np.ptp(points, axis=0)
    places = points * min(ROOM[0] / max(spans[0], 1e-12), ROOM[1] / max(spans[1], 1e-12))
    return free_label_places(places, [truncate(name, SCATTER_LONGEST) for name in names])


def free_label_places(places: FloatArray, labels: Sequence[str]) -> list[str]:
    """Return the plotly text position of each label; "" if it is empty or would cover another label or point.

    ``places`` are the points in approximate pixels, (point, 2). Earlier labels have the first choice.

    >>> free_label_places(np.array([[0, 0], [90, 0], [2, 0]], np.float32), ["3-1", "", "3-2"])
    ['top center', '', 'bottom center']
    """
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    found: list[str] = []
    for (x, y), label in zip(places, labels, strict=True):
        wide = LETTER * len(label)
        boxes = {
            "top center": (x - wide / 2, y + 6, x + wide / 2, y + 20),
            "bottom center": (x - wide / 2, y - 20, x + wide / 2, y - 6),
            "middle right": (x + 7, y - 7, x + 7 + wide, y + 7),
            "middle left": (x - 7 - wide, y - 7, x - 7, y + 7),
        }
        free = [where for where, box in boxes.items() if label and not any(_overlap(box, other) for other in taken)]
        found.append(free[0] if free else "")
        taken += [boxes[free[0]]] if free else []
    return found


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _points(points: FloatArray, names: Sequence[str], beside: Sequence[str], theme: Theme) -> dict[str, Any]:
    return {
        **dict(zip("xyz", points.T, strict=False)),
        **({} if points.shape[1] == 3 else {"cliponaxis": False}),
        "mode": "markers+text" if any(beside) else "markers",
        "text": [
            escape_label(truncate(name, SCATTER_LONGEST)) if where else ""
            for name, where in zip(names, beside, strict=True)
        ],
        "textposition": [where or "top center" for where in beside],
        "textfont": {"color": theme.text, "size": 12},
        "customdata": [escape_label(truncate(name, 120)) for name in names],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _axes_3d(figure: go.Figure, theme: Theme, axes: Sequence[str]) -> None:
    """Hide the numbers of the three axes, since only distances have a meaning."""
    plain_axis = {"showticklabels": False, "gridcolor": theme.grid, "zeroline": False, "showbackground": False}
    scene = {
        f"{letter}axis": {**plain_axis, "title": {"text": escape_label(name), "font": {"size": 12}}}
        for letter, name in zip("xyz", axes, strict=True)
    }
    away = {"eye": {"x": 1.5, "y": 1.5, "z": 0.9}}
    figure.update_layout(
        scene={**scene, "aspectmode": "data", "camera": away}, margin={"l": 0, "r": 0, "t": ABOVE, "b": 0}
    )


MOST = 100  # the most rows and columns, to which callers limit their vectors
COSINE_TICKS = 34  # labels on an axis at most; beyond, every second, third … label is drawn
NUMBERS = 24  # rows up to which each cell shows its number


def cosine_map(
    likeness: FloatArray, names: Sequence[str], theme: Theme, title: str, *, marked: int | None = None
) -> go.Figure:
    """Draw a matrix of cosine similarities (row, column), from -1 to 1, of at most MOST vectors.

    The first vector is on top. ``names`` are text, not markup; the row ``marked`` is outlined.
    """
    count = len(names)
    labels = [escape_label(truncate(name)) for name in names]
    step = max(1, -(-count // COSINE_TICKS))
    figure = empty(theme, title, "", "")
    figure.add_heatmap(
        z=np.round(likeness.astype(np.float64), 4),
        colorscale=diverging_scale(theme),
        zmin=-1,
        zmax=1,
        customdata=[[[row, column] for column in labels] for row in labels],
        hovertemplate=_("%{customdata[0]} and %{customdata[1]}: %{z:.2f}<extra></extra>"),
        colorbar=color_bar(),
        xgap=1 if count <= COSINE_TICKS else 0,
        ygap=1 if count <= COSINE_TICKS else 0,
    )
    if count <= NUMBERS:
        digits = [[f"{value:.2f}".replace("-0.00", "0.00").replace("-", "\u2212") for value in row] for row in likeness]
        add_cell_text(figure, digits, (likeness + np.float32(1)) / np.float32(2), diverging_scale(theme), theme)
    below, above = sides(theme)
    add_color_note(figure, theme, _("cosine; {above}: alike, {below}: opposite", above=above, below=below))
    ticks = {"tickvals": list(range(0, count, step)), "ticktext": labels[::step], "showgrid": False, "fixedrange": True}
    figure.update_xaxes(**ticks, tickangle=-60, range=[-0.5, count - 0.5])
    figure.update_yaxes(**ticks, range=[count - 0.5, -0.5], rangemode="normal")
    if marked is not None and marked < count:
        line = {"color": theme.accent, "width": 2}
        figure.add_shape(type="rect", x0=-0.5, x1=count - 0.5, y0=marked - 0.5, y1=marked + 0.5, line=line)
    figure.update_layout(height=min(760, 230 + 25 * count), margin={"t": ABOVE + BAR})
    return figure


MARKS = (("circle", "solid"), ("square", "dash"), ("diamond", "dot"))


def context_lines(
    pairs: Mapping[str, FloatArray], baseline: FloatArray, levels: Sequence[str], theme: Theme, word: str
) -> go.Figure:
    """Draw the cosine similarity of a word's vectors in two contexts at each level, a line for each pair.

    A level is the embedding or the output of a layer; ``levels`` are their names. ``pairs`` has at most three pairs of
    contexts, (level,) each. ``baseline`` (level,) is the mean cosine of different words.
    """
    figure = empty(theme, _("Cosine of “{word}” between contexts", word=word), "", _("Cosine"))
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


ROW, LEAST, TALLEST = 26, 14, 860  # pixels of a row at most and at least, and of all rows at most
BELOW = 84  # pixels for the colour bar
ALIGNMENT_LONGEST = 16  # characters of a label before it is cut
ALIGNMENT_TICKS = 60  # labels on an axis at most; beyond, every second, third … label is drawn
POINTS = 4000  # cells up to which a click picks a cell


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


def alignment_map(  # noqa: PLR0913  (keyword options of a figure)
    weights: FloatArray,
    target: Sequence[str],
    source: Sequence[str],
    theme: Theme,
    title: str,
    *,
    chosen: int | None = None,
    strongest: Sequence[int | None] = (),
) -> go.Figure:
    """Draw a word alignment as a matrix, source words to the right and target words downwards.

    ``weights`` is (target, source), from 0 to 1, like the colour scale. ``strongest`` has the index of each row's
    largest weight on a word, which is marked by a dot. The row ``chosen`` is framed. Words are text, not markup.

    A click picks a target word: ``st.plotly_chart(figure, on_select=callback, key=key)``, and in the callback
    ``picked_pair(st.session_state[key])``. A matrix of more than POINTS cells has no clicks, since each cell needs an
    invisible point.
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
            "title": {"text": _("Attention weights"), "side": "top"},
            "y": 0,
            "yanchor": "top",
            "ypad": 16,
        },
        customdata=[[[row, column] for column in across] for row in down],
        hovertemplate=_("%{customdata[0]} looks at %{customdata[1]}: %{z:.3f}<extra></extra>"),
        xgap=1 if len(source) <= ALIGNMENT_TICKS else 0,
        ygap=1 if len(target) <= ALIGNMENT_TICKS else 0,
    )
    if weights.size <= POINTS:
        _add_points(figure, theme, weights, down, across)
    _mark_largest(figure, theme, strongest, chosen, len(source))
    _label_axes(figure, down, across)
    above = 70 + 8 * min(ALIGNMENT_LONGEST, max(map(len, source), default=0))
    beside = 8 + 4 * len(truncate(source[-1], ALIGNMENT_LONGEST)) if source else 8  # room for the last slanted label
    figure.update_layout(
        height=above + BELOW + max(LEAST, min(ROW, TALLEST // max(1, len(target)))) * len(target),
        margin={"t": above, "b": BELOW, "l": 8, "r": beside},
        title={"y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 12}},
        showlegend=False,
        hovermode="closest",
    )
    return figure


def picked_pair(event: Any) -> tuple[int, int] | None:
    """Return the (target, source) that was clicked, from a selection event of ``st.plotly_chart``, or None."""
    points = event["selection"]["points"] if event else []
    if not points or not points[0].get("customdata"):
        return None
    row, column = points[0]["customdata"][:2]
    return int(row), int(column)


def _label(word: str) -> str:
    """Return a word as a label, isolated from the direction of the text around it.

    >>> _label("<b>")
    '\\u2068&lt;b&gt;\\u2069'
    """
    return f"\u2068{escape_label(truncate(word, ALIGNMENT_LONGEST))}\u2069"


def _add_points(
    figure: go.Figure, theme: Theme, weights: FloatArray, down: Sequence[str], across: Sequence[str]
) -> None:
    """Add an invisible point on each cell, since plotly reports clicks on points only."""
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
    """Draw a dot on each row's largest source word, and a frame around the chosen row."""
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
    """Label both axes: every word if there are few, else every second, third … word."""
    for labels, update in ((across, figure.update_xaxes), (down, figure.update_yaxes)):
        step = max(1, -(-len(labels) // ALIGNMENT_TICKS))
        places = list(range(0, len(labels), step))
        update(tickvals=places, ticktext=labels[::step], showgrid=False, fixedrange=True, ticks="")
    figure.update_xaxes(side="top", tickangle=-60, range=[-0.5, len(across) - 0.5])
    figure.update_yaxes(range=[len(down) - 0.5, -0.5], rangemode="normal")
