"""How much attention each token receives, in one head and over all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.labels import escape_label, truncate
from viz.figures.theme import Theme, empty, reference

TICKS = 48  # most token labels under the axis; beyond, every second, third … is written, and all are in the hover text


def received_by_token(  # noqa: PLR0913  (what a figure may be told, by name)
    received: FloatArray, mean: FloatArray, tokens: Sequence[str], theme: Theme, head: str, *, base: int = 0
) -> go.Figure:
    """A bar for what each token receives in one head, a mark for the mean over all heads of all layers.

    ``received`` and ``mean`` are (key,), each the mean over the queries (measures.received); ``tokens`` names the keys,
    ``head`` the head. In a causal model early tokens are seen by more queries, so they receive more.
    """
    figure = empty(theme, _("Which tokens receive attention?"), _("Token"), _("Mean weight"))
    places, labels = np.arange(len(tokens)), [escape_label(truncate(token)) for token in tokens]
    names = [[label, place + base] for place, label in enumerate(labels)]
    hover = _("%{customdata[0]} (token %{customdata[1]}): %{y:.3f}")
    figure.add_bar(
        name=escape_label(head),
        x=places,
        y=received,
        customdata=names,
        marker={"color": theme.accent},
        hovertemplate=hover,
    )
    figure.add_scatter(
        name=_("mean over all heads"),
        x=places,
        y=mean,
        customdata=names,
        mode="markers",
        marker={"color": theme.heads, "symbol": "line-ew", "size": 12, "line": {"color": theme.heads, "width": 3}},
        hovertemplate=hover,
    )
    even = float(received.sum()) / max(1, len(tokens))
    reference(figure, theme, even, _("if all received the same: {even:.3f}", even=even))
    step = max(1, -(-len(tokens) // TICKS))
    figure.update_xaxes(tickvals=places[::step], ticktext=labels[::step], tickangle=-60, showgrid=False)
    return figure
