"""What n² costs: shares of the operations by formula, and measured time and memory beside their curves."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from attention.complexity import CostSizes, QuadraticFit, Values
from i18n import _
from viz.figures.palette import line_colors
from viz.figures.theme import Theme, empty

HEIGHT = 340
POINTS = 200  # of a curve


def operation_shares(sizes: CostSizes, longest: int, tokens: int, theme: Theme) -> go.Figure:
    """Which part of one layer's operations goes where, in percent, for texts of 1 to ``longest`` tokens.

    The dotted line is the reader's text of ``tokens``, the dashed one where the pairs take half of all.
    """
    n = np.geomspace(1, longest, POINTS)
    named = {
        _("feed-forward"): sizes.feed_forward(n),
        "W_Q, W_K, W_V, W_O": sizes.projections(n),
        _("pairs of tokens, n²"): sizes.pairs(n),
    }
    total = np.sum(list(named.values()), axis=0)
    figure = empty(theme, _("Where do one layer's operations go?"), _("Tokens n"), _("Share of the operations (%)"))
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
            hovertemplate=_("n = %{x:,.0f}: %{y:.1f} %, %{customdata:.3~s} operations"),
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
    return figure.update_layout(height=HEIGHT)


def seconds(n: Values, busy: Values, fitted: QuadraticFit | None, theme: Theme) -> go.Figure:
    """Measured passes as dots, with the fitted curve and its part in n² alone.

    ``busy`` is the processor time of a pass in seconds, (length,).
    """
    figure = empty(theme, _("How long does one pass take?"), _("Tokens n"), _("Milliseconds of processor time"))
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
    return figure.update_layout(height=HEIGHT)


def memory(n: Values, peak: Values, maps: Values, theme: Theme) -> go.Figure:
    """Measured bytes of the pass's tensors as dots, and the bytes of all attention maps were they kept, as a curve.

    ``peak`` and ``maps`` are in bytes, (length,).
    """
    figure = empty(theme, _("How much memory?"), _("Tokens n"), _("Megabytes"))
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
        name=_("the pass's own tensors, measured here"),
        x=n,
        y=peak / 1e6,
        mode="markers",
        marker={"color": theme.accent, "size": 9},
        hovertemplate="n = %{x:,.0f}: %{y:,.2f} MB",
    )
    return figure.update_layout(height=HEIGHT)
