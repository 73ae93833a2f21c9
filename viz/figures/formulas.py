"""Figures of formulas: activation functions, the sensitivity of the softmax, and the cost of attention."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.complexity import CostSizes, QuadraticFit, Values
from attention.mask import FloatArray
from attention.toy_example import Numbers
from i18n import _
from viz.figures.theme import Theme, empty, escape_label, line_colors


def activation(inputs: FloatArray, outputs: FloatArray, name: str, theme: Theme) -> go.Figure:
    """Draw the model's activation function as a line, and ReLU as a dotted line for comparison.

    ``inputs`` and ``outputs`` are (point,). ReLU is left out if ``name`` is "ReLU".
    """
    figure = empty(theme, _("Activation function"), _("Input"), _("Output"))
    if name != "ReLU":
        figure.add_scatter(
            name=_("ReLU (arXiv:1706.03762)"),
            x=inputs,
            y=np.maximum(inputs, 0),
            mode="lines",
            line={"color": theme.accent, "width": 2, "dash": "dot"},
            hovertemplate="%{x:.2f} → %{y:.3f}",
        )
    figure.add_scatter(
        name=escape_label(_("Model: {name}", name=name) if name else _("this model")),
        x=inputs,
        y=outputs,
        mode="lines",
        line={"color": theme.heads, "width": 3},
        hovertemplate="%{x:.2f} → %{y:.3f}",
    )
    return figure.update_layout(height=320).update_yaxes(rangemode="normal")


def softmax_slope(widths: Sequence[int], over: Numbers, plain: Numbers, theme: Theme, marked: int) -> go.Figure:
    """Draw the sensitivity of the softmax, Σ a·(1 − a), as a function of d_k, with and without 1/√d_k.

    ``over`` (with 1/√d_k) and ``plain`` (without) are (width,). ``marked`` is the d_k of the page's model.

    >>> from viz.figures.theme import LIGHT
    >>> [line.name for line in softmax_slope([1, 4], np.array([0.5, 0.5]), np.array([0.5, 0.2]), LIGHT, 4).data][:2]
    ['scores over √d_k', 'unscaled']
    """
    figure = empty(theme, _("Softmax sensitivity"), "d_k", _("Sum of a·(1 − a), mean"))
    lines = (
        (_("scores over √d_k"), over, theme.heads, "solid"),
        (_("unscaled"), plain, theme.accent, "dash"),
    )
    for name, values, colour, dash in lines:
        figure.add_scatter(
            name=name,
            x=list(widths),
            y=values,
            mode="lines+markers",
            line={"color": colour, "width": 3, "dash": dash},
            hovertemplate="d_k = %{x}: %{y:.3f}",
        )
    line = {"dash": "dot", "color": theme.line, "width": 1.5}
    figure.add_vline(x=marked, line=line, showlegend=True, name=_("d_k = {width} here", width=marked))
    ticks = [width for width in widths if np.log2(width) % 2 == 0]
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{width:,}" for width in ticks])
    top = float(np.max([over.max(), plain.max()]))
    return figure.update_yaxes(range=[0, 1.08 * top]).update_layout(height=340)


COMPLEXITY_HEIGHT = 360
DASHES = ("solid", "dash", "dot", "dashdot")
WIDTHS = (5, 3.5, 2.5, 2)  # decreasing widths keep curves that coincide visible


def growth(  # noqa: PLR0913  (keyword options of a figure)
    n: Values, curves: Sequence[tuple[str, Values]], theme: Theme, title: str, unit: str, marked: int
) -> go.Figure:
    """Draw the cost of each layer type as a function of the number of tokens n, on logarithmic axes.

    ``curves`` are pairs of a name and values (length,) in ``unit``, all above zero. The n of the page is ``marked``.
    """
    figure = empty(theme, title, _("Tokens n"), unit)
    for at, (name, values) in enumerate(curves):
        figure.add_scatter(
            name=escape_label(name),
            x=n,
            y=values,
            mode="lines",
            line={"color": line_colors(theme)[at], "width": WIDTHS[at % 4], "dash": DASHES[at % 4]},
            hovertemplate="n = %{x:,.0f}: %{y:,.4~g}",
        )
    line = {"dash": "dot", "color": theme.line, "width": 1.5}
    figure.add_vline(x=marked, line=line, showlegend=True, name=f"n = {marked:,}")
    figure.update_xaxes(type="log", range=[0, 1.02 * float(np.log10(n[-1]))], dtick=1, exponentformat="power")
    least, most = min(float(v.min()) for _, v in curves), max(float(v.max()) for _, v in curves)
    bottom, top = np.log10(least), np.log10(most)
    room = 0.06 * (top - bottom) or 0.1
    every = max(1, round((top - bottom) / 6))  # decades between two labels of the axis
    axis = {"type": "log", "range": [bottom - room, top + room], "rangemode": "normal", "dtick": every}
    figure.update_yaxes(**axis, exponentformat="power", title_standoff=6)
    return figure.update_layout(height=COMPLEXITY_HEIGHT, margin={"b": 8})


COST_HEIGHT = 340
POINTS = 200  # points of a curve


def operation_shares(sizes: CostSizes, longest: int, tokens: int, theme: Theme) -> go.Figure:
    """Draw the percentage of a layer's operations in each of its parts, for 1 to ``longest`` tokens.

    The dotted line marks the user's text of ``tokens``. The dashed line marks the length at which token pairs take half
    of all operations.
    """
    n = np.geomspace(1, longest, POINTS)
    named = {
        _("feed-forward"): sizes.feed_forward(n),
        "W_Q, W_K, W_V, W_O": sizes.projections(n),
        _("pairs of tokens, n²"): sizes.pairs(n),
    }
    total = np.sum(list(named.values()), axis=0)
    figure = empty(theme, _("Operations per layer"), _("Tokens n"), _("Share of operations (%)"))
    colours = line_colors(theme)
    for (name, values), colour in zip(named.items(), (colours[1], colours[2], colours[0]), strict=True):
        figure.add_scatter(
            name=name,
            x=n,
            y=100 * values / total,
            customdata=values,
            mode="lines",
            stackgroup="all",
            line={"color": colour, "width": 0.5},
            hovertemplate=_("n = %{x:,.0f}: %{y:.1f}%, %{customdata:.3~s} operations"),
        )
    line = {"color": theme.line, "width": 1.5}
    figure.add_vline(
        x=tokens, line={**line, "dash": "dot"}, showlegend=True, name=_("this text, n = {tokens:,}", tokens=tokens)
    )
    meet = sizes.pairs_meet_rest
    figure.add_vline(
        x=meet, line={**line, "dash": "dash"}, showlegend=True, name=_("one half, n = {meet:,.0f}", meet=meet)
    )
    figure.update_xaxes(type="log", range=[0, float(np.log10(longest))], dtick=1)
    figure.update_yaxes(range=[0, 100])
    return figure.update_layout(height=COST_HEIGHT)


def seconds(n: Values, busy: Values, fitted: QuadraticFit | None, theme: Theme) -> go.Figure:
    """Draw the measured times of forward passes as dots, with the fitted curve and its n² term.

    ``n`` and ``busy``, the processor time of a pass in seconds, are (length,).
    """
    figure = empty(theme, _("Time per pass"), _("Tokens n"), _("Processor time (ms)"))
    if fitted is not None:
        x = np.linspace(0, float(n.max()), POINTS)
        curve = {"mode": "lines", "hovertemplate": "n = %{x:,.0f}: %{y:.1f} ms"}
        line = {"color": theme.heads, "width": 2}
        figure.add_scatter(name=_("a + b · n + c · n², fitted"), x=x, y=1e3 * fitted.values_at(x), line=line, **curve)
        line = {"color": theme.heads, "width": 2, "dash": "dot"}
        figure.add_scatter(name=_("c · n² alone"), x=x, y=1e3 * fitted.c * x**2, line=line, **curve)
    figure.add_scatter(
        name=_("measured here"),
        x=n,
        y=1e3 * busy,
        mode="markers",
        marker={"color": theme.accent, "size": 9},
        hovertemplate="n = %{x:,.0f}: %{y:.1f} ms",
    )
    return figure.update_layout(height=COST_HEIGHT)


def memory(n: Values, peak: Values, maps: Values, theme: Theme) -> go.Figure:
    """Draw the peak memory of forward passes as dots, and the memory of all attention maps as a curve.

    ``peak`` (measured) and ``maps`` are bytes, (length,), for texts of ``n`` tokens. The curve is the last number of
    ``maps``, scaled by n² to other lengths.
    """
    figure = empty(theme, _("Memory"), _("Tokens n"), _("Megabytes"))
    x = np.linspace(0, float(n.max()), POINTS)
    figure.add_scatter(
        name=_("all attention maps, by formula"),
        x=x,
        y=maps[-1] * (x / n[-1]) ** 2 / 1e6,
        mode="lines",
        line={"color": theme.heads, "width": 2, "dash": "dot"},
        hovertemplate="n = %{x:,.0f}: %{y:,.1f} MB",
    )
    figure.add_scatter(
        name=_("the pass's tensors, measured here"),
        x=n,
        y=peak / 1e6,
        mode="markers",
        marker={"color": theme.accent, "size": 9},
        hovertemplate="n = %{x:,.0f}: %{y:,.2f} MB",
    )
    return figure.update_layout(height=COST_HEIGHT)
