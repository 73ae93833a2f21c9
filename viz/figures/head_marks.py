"""Marks on a map of heads: which of them something was done to."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from viz.figures.theme import Theme


def mark_heads(figure: go.Figure, places: Sequence[tuple[int, int]], symbol: str, theme: Theme, base: int = 0) -> None:
    """One ``symbol`` on each of ``places`` (layer, head), from 0, of a map of heads; clicks pass through."""
    if not places:
        return
    figure.add_scatter(
        x=[head + base for _, head in places],
        y=[layer + base for layer, _ in places],
        mode="markers",
        marker={"symbol": symbol, "size": 13, "color": theme.accent, "line": {"width": 2, "color": theme.accent}},
        hoverinfo="skip",
    )
