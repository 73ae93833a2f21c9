"""Figures of training runs: learning curves, changes of heads, and comparisons of random seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _, translate
from viz.figures.theme import LEGEND, LEGENDS, Theme, empty, escape_label, line_colors, reference


def learning_curve(  # noqa: PLR0913  (keyword options of a figure)
    points: Sequence[tuple[int, float]],
    theme: Theme,
    title: str,
    unit: str,
    *,
    last: int | None = None,
    baseline: tuple[str, float] | None = None,
    collapsed: Sequence[tuple[int, str]] = (),
    ceiling: float | None = None,
) -> go.Figure:
    """Draw a learning curve of ``points`` (step, value); ``last`` is the planned last step, if it is known.

    ``baseline`` is the name and the height of a dashed line. ``collapsed`` (step, label) are evaluations at which the
    model gave every example the same label, for the second time in a row; they are drawn as crosses. ``ceiling`` is the
    end of the axis; by default the values decide.

    >>> from viz.figures.theme import LIGHT
    >>> figure = learning_curve([(0, 0.2), (13, 0.7)], LIGHT, "Dev rows", "accuracy", last=133, baseline=("it", 0.9))
    >>> figure.data[0].y, figure.layout.xaxis.range
    ((0.2, 0.7), (0, 133))
    """
    figure = empty(theme, title, _("Step"), unit)
    steps, numbers = [step for step, _ in points], [number for _, number in points]
    figure.add_scatter(
        name=escape_label(unit),
        x=steps,
        y=numbers,
        mode="lines+markers",
        cliponaxis=False,
        line={"color": theme.accent, "width": 2},
        marker={"size": 5},
        hovertemplate=_("step %{x}: %{y:.3f}<extra></extra>"),
        showlegend=False,
    )
    if collapsed:
        at = dict(points)
        figure.add_scatter(
            name=_("only one label, twice"),
            x=[step for step, _ in collapsed],
            y=[at.get(step, 0.0) for step, _ in collapsed],
            customdata=[escape_label(label) for _, label in collapsed],
            mode="markers",
            marker={"symbol": "x", "size": 11, "color": theme.line},
            hovertemplate=_("step %{x}: only %{customdata}<extra></extra>"),
        )
    if baseline is not None:
        line = {"dash": "dash", "color": theme.heads, "width": 2}
        name, height = baseline
        figure.add_hline(y=height, line=line, showlegend=True, name=f"{escape_label(name)}: {height:.3f}")
    if ceiling is not None:
        figure.update_yaxes(range=[0, 1.02 * ceiling])
    if last:
        figure.update_xaxes(range=[0, last])
    return figure.update_layout(height=340, margin={"b": LEGENDS if collapsed else LEGEND})


Numbers = npt.NDArray[np.float64]

APART = 0.1  # horizontal distance between two marks of a layer, in layers, so that neither covers the other
DRIFT_LOOKS = (("diamond", "solid"), ("circle", "dash"), ("square", "dot"))


@dataclass(frozen=True, eq=False)
class DriftLine:
    """The change of each layer's attention maps since before the training, with its interval.

    ``mean``, ``low`` and ``high`` are (layer,): mean Jensen–Shannon divergences, in bits. NaN marks a layer without a
    value.
    """

    name: str
    mean: Numbers
    low: Numbers
    high: Numbers


def by_layer(lines: Sequence[DriftLine], theme: Theme, title: str) -> go.Figure:
    """Draw the divergence of each layer from its initial maps, in bits, a line for each training run.

    The first line has the accent colour.
    """
    figure = empty(theme, title, _("Layer"), _("divergence (bits)"))
    layers = np.arange(len(lines[0].mean))
    for at, (line, (symbol, dash)) in enumerate(zip(lines, DRIFT_LOOKS, strict=False)):
        colour = theme.heads if at else theme.accent
        figure.add_scatter(
            name=escape_label(line.name),
            x=layers + APART * (at - (len(lines) - 1) / 2),
            y=line.mean,
            customdata=layers,
            error_y={
                "type": "data",
                "symmetric": False,
                "array": np.nan_to_num(line.high - line.mean),
                "arrayminus": np.nan_to_num(line.mean - line.low),
                "color": colour,
                "thickness": 1.5,
            },
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 1.5},
            marker={"color": colour, "symbol": symbol, "size": 8},
            hovertemplate=_("layer %{customdata}: %{y:.4f} bits"),
        )
    figure.update_xaxes(dtick=max(1, len(layers) // 16))
    return figure.update_layout(height=360, margin={"b": LEGENDS})


def by_step(  # noqa: PLR0913  (keyword options of a figure)
    steps: Sequence[int],
    whole: FloatArray,
    head: tuple[str, FloatArray],
    theme: Theme,
    title: str,
    *,
    frame: int,
    kept: int,
) -> go.Figure:
    """Draw the divergence from the initial maps by training step, in bits, for all heads and a single head.

    ``whole`` (frame,) is the mean of all heads, and ``head`` is the name of a head with its values. ``frame`` is the
    index of the step that the page shows. ``kept`` is the step whose weights were kept.
    """
    figure = empty(theme, title, _("Step"), _("divergence (bits)"))
    looks = (
        (_("the mean of all heads"), whole, theme.line, "dash"),
        (escape_label(head[0]), head[1], theme.heads, "solid"),
    )
    for name, values, colour, dash in looks:
        figure.add_scatter(
            name=name,
            x=list(steps),
            y=values,
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 1.5},
            marker={"size": 6},
            hovertemplate=_("step %{x}: %{y:.4f} bits"),
        )
    figure.add_scatter(
        name=_("step shown"),
        x=[steps[frame], steps[frame]],
        y=[whole[frame], head[1][frame]],
        mode="markers",
        marker={"color": theme.accent, "size": 12, "symbol": "diamond-open", "line": {"width": 2}},
        hoverinfo="skip",
    )
    line = {"dash": "dot", "color": theme.line, "width": 1.5}
    figure.add_vline(x=kept, line=line, showlegend=True, name=_("weights kept"))
    return figure.update_layout(height=300, margin={"b": LEGENDS})


def change_and_effect(  # noqa: PLR0913  (keyword options of a figure)
    changed: FloatArray,
    effect: FloatArray,
    theme: Theme,
    title: str,
    unit: str,
    *,
    beyond: Sequence[tuple[int, int]] = (),
    selected: tuple[int, int] | None = None,
) -> go.Figure:
    """Draw each head as a point: its change by fine-tuning in bits, against the effect of its ablation.

    ``changed`` and ``effect`` (in ``unit``) are (layer, head), NaN if there is no value. Points of the heads
    ``beyond``, which changed more than by chance, are filled; all others are open. A click picks a head as in
    ``head_map``.
    """
    figure = empty(theme, title, _("changed: divergence (bits)"), _("used: {unit}", unit=translate(unit)))
    far = set(beyond)
    places = [at for at in np.ndindex(changed.shape) if np.isfinite(changed[at]) and np.isfinite(effect[at])]
    groups = (
        (
            _("changed within chance"),
            "circle-open",
            theme.heads,
            8,
            [at for at in places if at not in {*far, selected}],
        ),
        (_("changed beyond chance"), "circle", theme.heads, 8, [at for at in places if at in far and at != selected]),
        (_("Selected head"), "diamond", theme.accent, 13, [at for at in places if at == selected]),
    )
    for name, symbol, colour, size, some in groups:
        if some:
            figure.add_scatter(
                name=name,
                x=[float(changed[at]) for at in some],
                y=[float(effect[at]) for at in some],
                customdata=[[*at] for at in some],
                meta={"layer": [layer for layer, _head in some], "head": [head for _layer, head in some]},
                mode="markers",
                marker={"color": colour, "symbol": symbol, "size": size, "line": {"width": 1.5}},
                hovertemplate=_("head %{customdata[0]}-%{customdata[1]}: %{x:.3f} bits, %{y:.3f}<extra></extra>"),
            )
    figure.update_xaxes(rangemode="tozero")
    return figure.update_layout(height=420, margin={"b": LEGEND + 24}, hovermode="closest")


BESIDE = 0.16  # half the distance between the two kinds of marks, in rows


def ablated_parts(
    kinds: Mapping[str, Mapping[str, Sequence[float]]], theme: Theme, title: str, unit: str, chance: float
) -> go.Figure:
    """Draw the results of models without one of their parts: a row for each part, the first on top.

    A row has a mark for each random seed, and a larger mark for the mean. ``kinds`` has at most two entries: kind →
    name → the value for each seed, 0 to 1.

    >>> from viz.figures.theme import LIGHT
    >>> figure = ablated_parts({"near": {"whole": (1.0, 0.9), "no norm": (0.4, 0.2)}}, LIGHT, "Parts", "share", 0.5)
    >>> figure.data[1].x
    (0.95, 0.3)
    """
    figure = empty(theme, title, escape_label(unit), "")
    names = list(next(iter(kinds.values())))
    looks = zip(kinds.items(), ((theme.heads, "circle"), (theme.accent, "diamond")), strict=False)
    for at, ((kind, values), (colour, symbol)) in enumerate(looks):
        height = BESIDE * (2 * at - (len(kinds) - 1))
        points = [(value, row + height) for row, name in enumerate(names) for value in values[name]]
        figure.add_scatter(
            x=[value for value, _ in points],
            y=[place for _, place in points],
            mode="markers",
            marker={"symbol": f"{symbol}-open", "size": 7, "color": colour},
            showlegend=False,
            hovertemplate=_("one seed: %{x:.2f}<extra></extra>"),
            cliponaxis=False,
        )
        figure.add_scatter(
            name=escape_label(kind),
            x=[round(float(np.mean(values[name])), 6) for name in names],
            y=[row + height for row in range(len(names))],
            mode="markers",
            marker={"symbol": symbol, "size": 12, "color": colour},
            customdata=[escape_label(name) for name in names],
            hovertemplate=_("%{customdata}, mean: %{x:.2f}"),
            cliponaxis=False,
        )
    line = {"dash": "dot", "color": theme.line, "width": 1.5}
    figure.add_vline(x=chance, line=line, showlegend=True, name=_("guessing: {chance:.3f}", chance=chance))
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=[escape_label(name) for name in names],
        range=[len(names) - 0.5, -0.5], rangemode="normal", fixedrange=True,
    )  # fmt: skip
    figure.update_xaxes(range=[0, 1.02], fixedrange=True)
    return figure.update_layout(height=150 + 40 * len(names), margin={"b": LEGENDS})


SEEDS_LOOKS = (("circle", "solid"), ("square", "dash"), ("diamond", "dot"), ("triangle-up", "dashdot"))
MANY = 16  # points beyond which a line has no markers


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve of a model's results: the values at the places ``x`` for each random seed, shape (seed, place)."""

    name: str
    x: Sequence[float]
    values: FloatArray


def seeds(  # noqa: PLR0913  (keyword options of a figure)
    curves: Sequence[Curve],
    theme: Theme,
    title: str,
    x: str,
    y: str,
    *,
    trained: int | None = None,
    chance: float | None = None,
    logarithmic: str = "",
) -> go.Figure:
    """Draw each curve's mean over random seeds as a thick line, and each seed as a thin line.

    A vertical line marks ``trained``, the largest place in the training data; a horizontal line marks ``chance``.
    ``logarithmic`` names the logarithmic axes, "y" or "xy"; values of 0 are left out on a logarithmic y axis.

    >>> from viz.figures.theme import LIGHT
    >>> figure = seeds([Curve("LSTM", [1, 2], np.array([[0.2, 0.4], [0.4, 0.8]]))], LIGHT, "Right", "Distance", "share")
    >>> len(figure.data), [round(float(value), 2) for value in figure.data[-1].y]
    (3, [0.3, 0.6])
    """
    figure = empty(theme, title, escape_label(x), escape_label(y))
    for at, (curve, (symbol, dash)) in enumerate(zip(curves, SEEDS_LOOKS, strict=False)):
        colour = line_colors(theme)[at]
        values = np.where(curve.values > 0, curve.values, np.nan) if "y" in logarithmic else curve.values
        if len(values) > 1:
            for row in values:
                line = {"color": colour, "width": 1, "dash": dash}
                figure.add_scatter(x=curve.x, y=row, mode="lines", line=line, opacity=0.45, showlegend=False,
                                   legendgroup=str(at), hoverinfo="skip")  # fmt: skip
        figure.add_scatter(
            name=escape_label(curve.name),
            x=curve.x,
            y=values.mean(axis=0),
            mode="lines" if len(curve.x) > MANY else "lines+markers",
            line={"color": colour, "width": 3, "dash": dash},
            marker={"symbol": symbol, "size": 9},
            cliponaxis=False,
            legendgroup=str(at),
            hovertemplate="%{x}: %{y:.3~g}",
        )
    if trained is not None:
        line = {"dash": "dot", "color": theme.line, "width": 1.5}
        figure.add_vline(x=trained, line=line, showlegend=True, name=_("trained on up to {trained}", trained=trained))
    if chance is not None:
        reference(figure, theme, chance, _("guessing: {chance:.3f}", chance=chance))
    for axis in logarithmic:
        figure.update_layout({f"{axis}axis": {"type": "log", "exponentformat": "power", "rangemode": "normal"}})
    if "x" in logarithmic:
        places = sorted({float(place) for curve in curves for place in curve.x})
        figure.update_xaxes(tickvals=places, ticktext=[f"{place:,g}" for place in places])
    return figure.update_layout(height=380, margin={"b": LEGENDS})
