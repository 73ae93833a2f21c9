"""The likeliest few as bars."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from i18n import gettext_lazy, translate
from viz.figures.labels import escape_label, truncate
from viz.figures.theme import Theme, empty

REST = gettext_lazy("all others")
PROBABILITY = gettext_lazy("probability")


def bars(  # noqa: PLR0913  (what a figure may be told, by name)
    labels: Sequence[str],
    values: Sequence[float],
    theme: Theme,
    title: str,
    unit: str = PROBABILITY,
    *,
    other: float | None = None,
    marked: Sequence[int] = (),
) -> go.Figure:
    """Horizontal bars, the first on top; ``marked`` ones in the accent colour, ``other`` the pale rest below.

    ``labels`` are text, not markup, and may repeat; ``values`` are in ``unit``.
    """
    names = [*labels, *([] if other is None else [translate(REST)])]
    numbers = [*values, *([] if other is None else [other])]
    colours = [theme.accent if index in marked else theme.heads for index in range(len(labels))]
    figure = empty(theme, title, translate(unit), "")
    figure.add_bar(
        orientation="h",
        x=numbers,
        y=list(range(len(names))),
        marker={"color": [*colours, *([] if other is None else [theme.grid])]},
        text=[_format_short(value) for value in numbers],
        textposition="outside",
        cliponaxis=False,
        customdata=[escape_label(name) for name in names],
        hovertemplate="%{customdata}: %{x:.4g}<extra></extra>",
    )
    ticks = [escape_label(truncate(name)) for name in names]
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=ticks,
        autorange="reversed",
        rangemode="normal",
        fixedrange=True,
        showgrid=False,
    )
    figure.update_xaxes(range=[0, 1.12 * max([*numbers, 0]) or 1], fixedrange=True)
    figure.update_layout(height=110 + 26 * len(names), bargap=0.25, showlegend=False)
    return figure


def _format_short(value: float) -> str:
    """Two decimals; a small number keeps one digit rather than become 0.00."""
    return f"{value:.2f}" if value == 0 or abs(value) >= 0.005 else f"{value:.1g}"
