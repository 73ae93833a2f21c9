"""Figures with values for each layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.theme import (
    ABOVE,
    BAR,
    LEGEND,
    Theme,
    add_cell_text,
    add_color_note,
    color_bar,
    diverging_scale,
    empty,
    escape_label,
    reference,
    sequential_scale,
    sides,
    truncate,
)

SPREAD = 0.6  # the share of the distance between two layers that a layer's heads occupy


@dataclass(frozen=True)
class MapSize:
    """The numbers of queries and keys of attention maps; ``causal`` is True if later keys are hidden."""

    queries: int
    keys: int
    causal: bool = False


def add_heads(figure: go.Figure, theme: Theme, values: FloatArray, selected: tuple[int, int] | None) -> None:
    """Add a dot for the value of each head, and a line through the means of the layers.

    The dots of a layer are side by side above its number. ``values`` is (layer, head); ``selected`` (layer, head)
    counts from 0.
    """
    layers, heads = values.shape
    middles = np.arange(layers)
    offsets = SPREAD * ((np.arange(heads) + 0.5) / heads - 0.5)
    names = np.stack(np.meshgrid(middles, np.arange(heads), indexing="ij"), axis=-1).reshape(-1, 2)
    hover = _("head %{customdata[0]}-%{customdata[1]}: %{y:.2f}<extra></extra>")
    figure.add_scatter(
        name=_("One head"),
        x=(middles[:, None] + offsets).reshape(-1),
        y=values.reshape(-1),
        customdata=names,
        mode="markers",
        marker={"color": theme.heads, "size": 7, "opacity": 0.7},
        hovertemplate=hover,
    )
    figure.add_scatter(
        name=_("layer mean"),
        x=middles,
        y=values.mean(axis=1),
        mode="lines",
        line={"color": theme.line, "width": 1.5},
        hovertemplate=_("layer %{x}, mean: %{y:.2f}<extra></extra>"),
    )
    if selected is not None:
        layer, head = selected
        figure.add_scatter(
            name=_("head {layer}-{head}", layer=layer, head=head),
            x=[middles[layer] + offsets[head]],
            y=[values[layer, head]],
            customdata=[[layer, head]],
            mode="markers",
            marker={"color": theme.accent, "size": 12, "line": {"color": theme.line, "width": 1}},
            hovertemplate=hover,
        )
    figure.update_xaxes(dtick=max(1, layers // 16), range=[-0.6, layers - 1 + 0.6])


def most_bits(size: MapSize) -> float:
    """Return the entropy in bits of uniform attention over all visible keys, averaged over the queries.

    >>> most_bits(MapSize(8, 8)), most_bits(MapSize(2, 2, causal=True))
    (3.0, 0.5)
    """
    if not size.causal:
        return float(np.log2(size.keys))
    return float(np.log2(np.arange(size.keys - size.queries, size.keys) + 1).mean())


def entropy_by_layer(
    entropy: FloatArray, size: MapSize, theme: Theme, *, selected: tuple[int, int] | None = None
) -> go.Figure:
    """Draw the attention entropy of each head in bits as a dot, heads grouped by layer.

    ``entropy`` is (layer, head), the mean over queries (attention.measures). At 0 bits each query attends to a single
    key. A dotted line marks the entropy of uniform attention.
    """
    figure = empty(theme, _("Attention entropy"), _("Layer"), _("Entropy (bits)"))
    add_heads(figure, theme, entropy, selected)
    most = most_bits(size)
    reference(figure, theme, most, _("uniform attention: {bits:.2f} bits", bits=most))
    figure.update_yaxes(range=[0, max(most, float(entropy.max(initial=0))) * 1.12 or 1])
    return figure


def even_distance(size: MapSize) -> float:
    """Return the mean distance in tokens of uniform attention over all visible keys, as a reference.

    >>> even_distance(MapSize(2, 2)), even_distance(MapSize(3, 3, causal=True))
    (0.5, 0.5)
    """
    place = np.arange(size.queries, dtype=float)
    last = np.minimum(place, size.keys - 1) if size.causal else np.full(size.queries, size.keys - 1.0)
    near = np.minimum(place, last)  # the last key that is not after the query
    # Sum of place - j over the keys j up to ``near``, and of j - place over the keys from there to ``last``.
    behind = (near + 1) * place - near * (near + 1) / 2
    ahead = (last * (last + 1) - near * (near + 1)) / 2 - (last - near) * place
    return float(((behind + ahead) / (last + 1)).mean())


def distance_by_layer(
    distance: FloatArray, size: MapSize, theme: Theme, *, selected: tuple[int, int] | None = None
) -> go.Figure:
    """Draw the mean attention distance of each head in tokens as a dot, heads grouped by layer.

    ``distance`` is (layer, head), the mean over queries (attention.measures). A dotted line marks the distance of
    uniform attention.
    """
    figure = empty(theme, _("Mean distance"), _("Layer"), _("Mean distance (tokens)"))
    add_heads(figure, theme, distance, selected)
    even = even_distance(size)
    reference(figure, theme, even, _("uniform attention: {even:.1f} tokens", even=even))
    figure.update_yaxes(range=[0, max(even, float(distance.max(initial=0))) * 1.12 or 1])
    return figure


def offset_profile(shares: FloatArray, theme: Theme, head: str) -> go.Figure:
    """Draw the mean weight that a head gives to each offset; -1 is the previous token, 0 the token itself.

    ``shares`` is (2 · reach + 1,), the mean over the queries that have a key at the offset (measures.by_offset).
    ``head`` is the head's name, such as "head 3-1".
    """
    reach = len(shares) // 2
    figure = empty(
        theme, _("Attention by distance, {head}", head=head), _("Key minus query (tokens)"), _("Mean weight")
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


def what_if(before: FloatArray, after: FloatArray, theme: Theme, *, head: int) -> go.Figure:
    """Draw the entropy of each head in bits before and after a change of the softmax, as joined marks.

    ``before`` and ``after`` are (head,). The marks of ``head`` are larger.
    """
    figure = empty(theme, _("Entropy of each head"), _("Head"), _("Mean entropy (bits)"))
    places = np.arange(len(before))
    line = {"color": theme.grid, "width": 3}
    for place, low, high in zip(places, before, after, strict=True):
        figure.add_scatter(x=[place, place], y=[low, high], mode="lines", line=line, hoverinfo="skip", showlegend=False)
    hover = _("head %{x}: %{y:.2f} bits<extra></extra>")
    for name, values, colour, symbol in (
        (_("as the model computes"), before, theme.heads, "circle"),
        (_("under these rules"), after, theme.accent, "diamond"),
    ):
        sizes = np.where(np.arange(len(values)) == head, 14, 9)
        marker = {"color": colour, "symbol": symbol, "size": sizes, "line": {"color": theme.line, "width": 1}}
        figure.add_scatter(name=name, x=places, y=values, mode="markers", marker=marker, hovertemplate=hover)
    figure.update_xaxes(dtick=max(1, len(before) // 16))
    figure.update_yaxes(range=[0, max(float(np.max([before, after])), 0.1) * 1.12])
    return figure


# The colours of Okabe and Ito, which are distinct on light and dark pages.
HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
ROW = 30  # height of a row in pixels


def lens_map(
    pieces: Sequence[Sequence[str]],
    chances: FloatArray,
    theme: Theme,
) -> go.Figure:
    """Draw the likeliest tokens of the logit lens after each layer; colour is the probability, 0 to 1.

    ``pieces`` and ``chances`` are (row, rank); row 0 is the embedding and is on top.
    """
    rows, ranks = chances.shape
    figure = empty(theme, _("Likeliest tokens by layer"), "", "")
    figure.add_heatmap(
        z=np.round(chances.astype(np.float64), 6),
        x=list(range(ranks)),
        y=list(range(rows)),
        colorscale=sequential_scale(theme),
        zmin=0,
        zmax=1,
        customdata=[[escape_label(piece) for piece in row] for row in pieces],
        hovertemplate="%{customdata}: %{z:.4f}<extra></extra>",
        showscale=False,
        xgap=1,
        ygap=1,
    )
    texts = [[escape_label(truncate(piece, 10)) for piece in row] for row in pieces]
    add_cell_text(figure, texts, chances, sequential_scale(theme), theme, size=12)
    names = [_("likeliest"), *(f"#{rank + 1}" for rank in range(1, ranks))]
    figure.update_xaxes(
        tickvals=list(range(ranks)), ticktext=names, showgrid=False, fixedrange=True, side="top", rangemode="normal"
    )
    figure.update_yaxes(
        tickvals=list(range(rows)),
        ticktext=layer_names(rows),
        autorange="reversed",
        rangemode="normal",
        showgrid=False,
        fixedrange=True,
    )
    figure.update_layout(height=110 + ROW * rows, margin={"t": 72})
    return figure


def lens_curves(
    chances: FloatArray,
    names: Sequence[str],
    theme: Theme,
) -> go.Figure:
    """Draw the probability of some tokens after each layer (logit lens), a line for each token.

    ``chances`` is (row, token); row 0 is the embedding. Lines differ in colour and dash.
    """
    rows = chances.shape[0]
    figure = empty(theme, _("Answer by layer"), "", _("Probability"))
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
    figure.update_xaxes(tickvals=list(range(rows))[some], ticktext=layer_names(rows)[some], fixedrange=True)
    figure.update_yaxes(range=[0, max(0.05, 1.1 * float(chances.max(initial=0)))], fixedrange=True)
    figure.update_layout(height=320, margin={"b": LEGEND}, hovermode="x")
    return figure


def layer_names(rows: int) -> list[str]:
    """Return the labels of ``rows`` rows: the embedding, then each layer.

    >>> layer_names(3)
    ['words', 'layer 0', 'layer 1']
    """
    return [_("words"), *(_("layer {layer}", layer=at) for at in range(rows - 1))]


WORDS = 96  # pixels for the words, which are written upwards
LONGEST = 14  # characters of a word before it is shortened


def patching_map(  # noqa: PLR0913  (keyword options of a figure)
    shares: FloatArray,
    words: Sequence[str],
    theme: Theme,
    title: str,
    *,
    beyond: npt.NDArray[np.bool_] | None = None,
    selected: tuple[int, int] | None = None,
) -> go.Figure:
    """Draw the effect of patching each word at each layer, layers downwards, words to the right.

    ``shares`` (layer + 1, word) is how far patching moves the answer towards the donor text's answer: 0 is no effect,
    and 1 the donor's answer. The last row patches a word in every layer. A dot marks the cells in which ``beyond``
    (layer + 1, word) is true, such as effects beyond those of random changes. ``selected`` (row, word) is framed. A
    click picks a cell as in ``head_map``; ``head_maps.picked_head`` reads it. Words are text, not markup.

    >>> from viz.figures.theme import LIGHT
    >>> figure = patching_map(np.eye(3, 2, dtype=np.float32), ["it", "<b>"], LIGHT, "t")
    >>> figure.layout.yaxis.ticktext, figure.layout.xaxis.ticktext[1]
    (('into layer 0', 'into layer 1', 'every layer'), '&lt;b&gt;')
    """
    rows, many = shares.shape
    end = float(np.nanmax(np.abs(shares), initial=0.0)) or 1.0
    names = [*(_("into layer {layer}", layer=at) for at in range(rows - 1)), _("every layer")]
    labels = [escape_label(truncate(word, LONGEST)) for word in words]
    figure = empty(theme, title, "", "")
    figure.add_heatmap(
        z=shares,
        colorscale=diverging_scale(theme),
        zmin=-end,
        zmax=end,
        colorbar=color_bar(),
        hoverinfo="skip",
        xgap=1,
        ygap=1,
    )
    _points(figure, theme, shares, names, words)
    if beyond is not None and beyond.any():
        down, across = np.nonzero(beyond)
        dot = {"symbol": "circle", "size": 6, "color": theme.text, "line": {"width": 1, "color": theme.grid}}
        figure.add_scatter(
            x=across.tolist(),
            y=down.tolist(),
            mode="markers",
            marker=dot,
            meta="beyond random changes",  # the name of its column in the figure's data
            hoverinfo="skip",
        )
    if selected is not None:
        row, word = selected
        box = {"x0": word - 0.5, "x1": word + 0.5, "y0": row - 0.5, "y1": row + 0.5}
        figure.add_shape(type="rect", **box, line={"color": theme.accent, "width": 3})
    axis = {"showgrid": False, "fixedrange": True, "rangemode": "normal"}
    figure.update_xaxes(**axis, tickvals=list(range(many)), ticktext=labels, tickangle=-90)
    figure.update_yaxes(**axis, tickvals=list(range(rows)), ticktext=names, range=[rows - 0.5, -0.5])
    less, more = sides(theme)
    add_color_note(figure, theme, _("{less}: away from the second answer; {more}: towards it", less=less, more=more))
    figure.update_layout(
        height=ABOVE + BAR + WORDS + ROW * rows,
        margin={"t": ABOVE + BAR, "b": WORDS},
        showlegend=False,
        hovermode="closest",
        meta={
            "x": (_("Word"), [escape_label(word) for word in words]),
            "y": (_("Layer"), names),
            "z": (_("patching effect"), ()),
        },
    )
    return figure


def _points(figure: go.Figure, theme: Theme, shares: FloatArray, names: Sequence[str], words: Sequence[str]) -> None:
    """Add an invisible point with a hover text on each cell that has a number; clicks need points."""
    places = np.argwhere(np.isfinite(shares))
    unseen = {"marker": {"opacity": 0}}
    figure.add_scatter(
        x=places[:, 1].tolist(),
        y=places[:, 0].tolist(),
        customdata=[[int(row), int(word), float(shares[row, word])] for row, word in places],
        text=[f"{escape_label(words[word])}, {names[row]}" for row, word in places],
        mode="markers",
        marker={"opacity": 0, "size": 22, "color": theme.heads},
        selected=unseen,
        unselected=unseen,
        hovertemplate="%{text}: %{customdata[2]:.3g}<extra></extra>",
    )
