"""What a head says of one token's state after each layer, as a map of the likeliest pieces and as curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.labels import escape_label, truncate
from viz.figures.palette import sequential_scale
from viz.figures.theme import LEGEND, Theme, empty

HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito's, told apart on both grounds
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
ROW = 30  # pixels


def lens_map(pieces: Sequence[Sequence[str]], chances: FloatArray, theme: Theme, *, base: int = 0) -> go.Figure:
    """The likeliest pieces after each layer, the embedding on top; colour is their probability, from 0 to 1.

    ``pieces`` and ``chances`` are (row, rank); row 0 is the embedding. Layers are labelled from ``base``.
    """
    rows, ranks = chances.shape
    figure = empty(theme, _("The likeliest pieces after each layer"), "", "")
    figure.add_heatmap(
        z=np.round(chances.astype(np.float64), 6),
        x=list(range(ranks)),
        y=list(range(rows)),
        colorscale=sequential_scale(theme),
        zmin=0,
        zmax=1,
        text=[[escape_label(truncate(piece, 10)) for piece in row] for row in pieces],
        customdata=[[escape_label(piece) for piece in row] for row in pieces],
        texttemplate="%{text}",
        textfont={"size": 12},
        hovertemplate="%{customdata}: %{z:.4f}<extra></extra>",
        showscale=False,
        xgap=1,
        ygap=1,
    )
    names = [_("likeliest"), *(_("number {rank}", rank=rank + 1) for rank in range(1, ranks))]
    figure.update_xaxes(
        tickvals=list(range(ranks)), ticktext=names, showgrid=False, fixedrange=True, side="top", rangemode="normal"
    )
    figure.update_yaxes(
        tickvals=list(range(rows)),
        ticktext=layer_names(rows, base),
        autorange="reversed",
        rangemode="normal",
        showgrid=False,
        fixedrange=True,
    )
    figure.update_layout(height=110 + ROW * rows, margin={"t": 72})
    return figure


def lens_curves(chances: FloatArray, names: Sequence[str], theme: Theme, *, base: int = 0) -> go.Figure:
    """Each followed piece's probability, (row, piece), through the layers; one line a piece, by colour and dashes."""
    rows = chances.shape[0]
    figure = empty(theme, _("The answer through the layers"), "", _("Probability"))
    for at, name in enumerate(names):
        figure.add_scatter(
            x=list(range(rows)),
            y=chances[:, at].tolist(),
            name=escape_label(truncate(name)),
            mode="lines+markers",
            line={"color": HUES[at % len(HUES)], "dash": DASHES[at % len(DASHES)], "width": 2},
            hovertemplate="%{y:.4f}",
            showlegend=True,
        )
    some = slice(0, rows, max(1, rows // 12))
    figure.update_xaxes(tickvals=list(range(rows))[some], ticktext=layer_names(rows, base)[some], fixedrange=True)
    figure.update_yaxes(range=[0, max(0.05, 1.1 * float(chances.max(initial=0)))], fixedrange=True)
    figure.update_layout(height=320, margin={"b": LEGEND}, hovermode="x")
    return figure


def layer_names(rows: int, base: int) -> list[str]:
    """Names of the rows.

    >>> layer_names(3, 0)
    ['words', 'layer 0', 'layer 1']
    """
    return [_("words"), *(_("layer {layer}", layer=at + base) for at in range(rows - 1))]
