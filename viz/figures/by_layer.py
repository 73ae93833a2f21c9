"""One number per head, drawn by layer: the shape that the entropy and distance figures share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.theme import Theme

SPREAD = 0.6  # of the room between two layers, over which a layer's heads are laid out


@dataclass(frozen=True)
class MapSize:
    """How large the maps of attention are, and whether a query may look at later keys."""

    queries: int
    keys: int
    causal: bool = False


def add_heads(figure: go.Figure, theme: Theme, values: FloatArray, selected: tuple[int, int] | None, base: int) -> None:
    """Every head a dot, a layer's heads from left to right in their order; the layer's mean a line.

    ``values`` is (layer, head); ``selected`` (layer, head) counts from 0, labels from ``base``.
    """
    layers, heads = values.shape
    middles = np.arange(layers) + base
    offsets = SPREAD * ((np.arange(heads) + 0.5) / heads - 0.5)
    names = np.stack(np.meshgrid(middles, np.arange(heads) + base, indexing="ij"), axis=-1).reshape(-1, 2)
    hover = _("layer %{customdata[0]} · head %{customdata[1]}: %{y:.2f}<extra></extra>")
    figure.add_scatter(
        name=_("one head"),
        x=(middles[:, None] + offsets).reshape(-1),
        y=values.reshape(-1),
        customdata=names,
        mode="markers",
        marker={"color": theme.heads, "size": 7, "opacity": 0.7},
        hovertemplate=hover,
    )
    figure.add_scatter(
        name=_("mean of the layer"),
        x=middles,
        y=values.mean(axis=1),
        mode="lines",
        line={"color": theme.line, "width": 1.5},
        hovertemplate=_("layer %{x}, mean: %{y:.2f}<extra></extra>"),
    )
    if selected is not None:
        layer, head = selected
        figure.add_scatter(
            name=_("layer {layer} · head {head}", layer=layer + base, head=head + base),
            x=[middles[layer] + offsets[head]],
            y=[values[layer, head]],
            customdata=[[layer + base, head + base]],
            mode="markers",
            marker={"color": theme.accent, "size": 12, "line": {"color": theme.line, "width": 1}},
            hovertemplate=hover,
        )
    figure.update_xaxes(dtick=max(1, layers // 16), range=[base - 0.6, layers - 1 + base + 0.6])
