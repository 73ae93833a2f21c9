"""How widely each head spreads its attention, by layer."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.by_layer import MapSize, add_heads
from viz.figures.theme import Theme, empty, reference


def most_bits(size: MapSize) -> float:
    """The entropy of attention spread evenly over all keys a query may look at, mean over the queries, in bits.

    >>> most_bits(MapSize(8, 8)), most_bits(MapSize(2, 2, causal=True))
    (3.0, 0.5)
    """
    if not size.causal:
        return float(np.log2(size.keys))
    return float(np.log2(np.arange(size.keys - size.queries, size.keys) + 1).mean())


def entropy_by_layer(
    entropy: FloatArray,
    size: MapSize,
    theme: Theme,
    *,
    selected: tuple[int, int] | None = None,
    base: int = 0,
) -> go.Figure:
    """Each head a dot: 0 bits means it looks at one token, the dotted line at all alike.

    ``entropy`` is (layer, head) in bits, the mean over queries (attention.measures).
    """
    figure = empty(theme, _("How widely does each head spread its attention?"), _("Layer"), _("Entropy (bits)"))
    add_heads(figure, theme, entropy, selected, base)
    most = most_bits(size)
    evenly = (
        _("evenly over the tokens so far: {bits:.2f} bits", bits=most)
        if size.causal
        else _("evenly over {keys} tokens: {bits:.2f} bits", keys=size.keys, bits=most)
    )
    reference(figure, theme, most, evenly)
    figure.update_yaxes(range=[0, max(most, float(entropy.max(initial=0))) * 1.12 or 1])
    return figure
