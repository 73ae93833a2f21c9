"""How far each head looks, by layer, and where one head looks by distance."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.by_layer import MapSize, add_heads
from viz.figures.theme import Theme, empty, reference


def even_distance(size: MapSize) -> float:
    """Mean distance in tokens of attention spread evenly over all keys that a query may look at.

    >>> even_distance(MapSize(2, 2)), even_distance(MapSize(3, 3, causal=True))
    (0.5, 0.5)
    """
    place = np.arange(size.queries, dtype=float)
    last = np.minimum(place, size.keys - 1) if size.causal else np.full(size.queries, size.keys - 1.0)
    near = np.minimum(place, last)  # the last key that is not ahead of the query
    # Sums of place - j over the keys up to ``near``, and of j - place over those from there to ``last``.
    behind = (near + 1) * place - near * (near + 1) / 2
    ahead = (last * (last + 1) - near * (near + 1)) / 2 - (last - near) * place
    return float(((behind + ahead) / (last + 1)).mean())


def distance_by_layer(
    distance: FloatArray,
    size: MapSize,
    theme: Theme,
    *,
    selected: tuple[int, int] | None = None,
    base: int = 0,
) -> go.Figure:
    """Each head a dot: how many tokens away it looks on average; the dotted line is what even attention would give.

    ``distance`` is (layer, head) in tokens, the mean over queries (attention.measures).
    """
    figure = empty(theme, _("How far does each head look?"), _("Layer"), _("Mean distance (tokens)"))
    add_heads(figure, theme, distance, selected, base)
    even = even_distance(size)
    reference(figure, theme, even, _("even attention: {even:.1f} tokens", even=even))
    figure.update_yaxes(range=[0, max(even, float(distance.max(initial=0))) * 1.12 or 1])
    return figure


def offset_profile(shares: FloatArray, theme: Theme, head: str) -> go.Figure:
    """How much of a query's attention one head gives to each distance; -1 is the token before, 0 itself.

    ``shares`` is (2 · reach + 1,), the mean over the queries that have a key there (measures.by_offset); ``head`` is
    the head's name, such as "layer 3 · head 1".
    """
    reach = len(shares) // 2
    figure = empty(
        theme, _("At what distance does {head} look?", head=head), _("Key minus query (tokens)"), _("Mean weight")
    )
    figure.add_bar(
        x=np.arange(-reach, reach + 1),
        y=shares,
        marker={"color": [theme.accent if i == reach else theme.heads for i in range(len(shares))]},
        hovertemplate="%{x:+d}: %{y:.3f}<extra></extra>",
        showlegend=False,
    )
    figure.update_layout(bargap=0.15)
    return figure
