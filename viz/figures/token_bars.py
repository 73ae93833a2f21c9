"""Figures with a value or a probability for each token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from textwrap import wrap

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _, gettext_lazy, translate, typeset_number
from viz.figures.theme import LEGEND, Theme, color_at, diverging_scale, empty, escape_label, reference, truncate

REST = gettext_lazy("all others")
PROBABILITY = gettext_lazy("Probability")
LINE = 16  # height of a further line of a label in pixels


def bars(  # noqa: PLR0913  (keyword options of a figure)
    labels: Sequence[str],
    values: Sequence[float],
    theme: Theme,
    title: str,
    unit: str = PROBABILITY,
    *,
    other: float | None = None,
    marked: Sequence[int] = (),
    intervals: Sequence[tuple[float, float]] = (),
    longest: int = 18,
    lines: int = 1,
) -> go.Figure:
    """Draw horizontal bars, the first on top; those with the indices ``marked`` have the accent colour.

    ``labels`` are text, not markup, and may repeat; ``values`` are in ``unit``. ``other`` is the sum of the
    remaining values, a pale bar at the bottom. ``intervals`` are the ends of each value's interval, if there are any.
    A label has at most ``lines`` lines of ``longest`` characters.
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
    if intervals:
        _add_intervals(figure, values, intervals, theme)
    ticks = [_break_label(name, longest, lines) for name in names]
    tallest = max((tick.count("<br>") for tick in ticks), default=0)
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=ticks,
        autorange="reversed",
        rangemode="normal",
        fixedrange=True,
        showgrid=False,
    )
    figure.update_xaxes(range=[0, 1.12 * max([*numbers, *(high for _low, high in intervals), 0]) or 1], fixedrange=True)
    if numbers and all(isinstance(value, int) for value in numbers):
        figure.update_xaxes(dtick=ceil(max(*numbers, 1) / 8))  # whole numbers of answers
    figure.update_layout(height=110 + (26 + LINE * tallest) * len(names), bargap=0.25, showlegend=False)
    return figure


def _break_label(name: str, longest: int, lines: int) -> str:
    """Return a label of at most ``lines`` lines of ``longest`` characters; a cut label ends in "…".

    >>> _break_label("It stays as it is: all scores grow alike.", 24, 3), _break_label("a < b < c", 5, 1)
    ('It stays as it is: all<br>scores grow alike.', 'a &lt; …')
    """
    if lines == 1:
        return escape_label(truncate(name, longest))
    return "<br>".join(map(escape_label, wrap(name, longest, max_lines=lines, placeholder="…")))


def _add_intervals(
    figure: go.Figure, values: Sequence[float], intervals: Sequence[tuple[float, float]], theme: Theme
) -> None:
    """Draw an interval at each bar, and the bars' texts after the intervals' upper ends."""
    bar = figure.data[0]
    bar.error_x = _error_bars(values, intervals, theme)
    bar.textposition = "none"
    for row, ((_low, high), text) in enumerate(zip(intervals, bar.text, strict=True)):
        figure.add_annotation(x=high, y=row, text=text, showarrow=False, xanchor="left", xshift=4)


def _error_bars(values: Sequence[float], intervals: Sequence[tuple[float, float]], theme: Theme) -> dict[str, object]:
    """Return Plotly's error bars of values with the ends of their intervals."""
    return {
        "symmetric": False,
        "array": [high - value for value, (_low, high) in zip(values, intervals, strict=True)],
        "arrayminus": [value - low for value, (low, _high) in zip(values, intervals, strict=True)],
        "color": theme.text,
        "thickness": 1,
    }


def _format_short(value: float) -> str:
    """Return a value with two decimals, three just below 1, or two significant digits below 0.1.

    >>> _format_short(2), _format_short(2.0), _format_short(0.0087)
    ('2', '2.00', '0.0087')
    >>> _format_short(0.998), _format_short(0.0999)  # 0.998 is not 1
    ('0.998', '0.1')
    """
    if isinstance(value, int):
        return str(value)
    if 0.995 <= abs(value) < 1:
        return f"{value:.3f}"
    return typeset_number(f"{value:.2f}" if value == 0 or abs(value) >= 0.1 else f"{value:.2g}")


SAMPLING_ROW = 30  # height of a token's row in pixels


def before_after(  # noqa: PLR0913  (keyword options of a figure)
    labels: Sequence[str],
    own: Sequence[float],
    drawn: Sequence[float],
    theme: Theme,
    title: str,
    *,
    marked: Sequence[int] = (),
) -> go.Figure:
    """Draw the model's probabilities of tokens as bars, and those after a decoding rule as marks.

    ``own`` are the model's probabilities, and ``drawn`` those after the rule, empty without a rule. The first token is
    on top. ``labels`` are text, not markup, and may repeat. A token that cannot be sampled has its mark at zero. The
    labels with the indices ``marked`` are bold.
    """
    rows = list(range(len(labels)))
    figure = empty(theme, title, _("Probability"), "")
    names = [escape_label(label) for label in labels]
    figure.add_bar(
        name=_("the model"),
        orientation="h",
        x=list(own),
        y=rows,
        marker={"color": theme.heads},
        customdata=names,
        hovertemplate=_("%{customdata}: %{x:.4g}<extra>the model</extra>"),
    )
    if drawn:
        figure.add_scatter(
            name=_("under these rules"),
            x=list(drawn),
            y=rows,
            mode="markers",
            marker={
                "symbol": "line-ns-open",
                "size": 20,
                "line": {"width": 4, "color": theme.accent},
                "color": theme.accent,
            },
            customdata=names,
            hovertemplate=_("%{customdata}: %{x:.4g}<extra>under the rule</extra>"),
            cliponaxis=False,
        )
    short = [escape_label(truncate(label)) for label in labels]
    figure.update_yaxes(
        tickvals=rows,
        ticktext=[f"<b>{name}</b>" if at in marked else name for at, name in enumerate(short)],
        range=[len(rows) - 0.4, -0.6],
        rangemode="normal",
        fixedrange=True,
        showgrid=False,
    )
    figure.update_xaxes(range=[0, 1.08 * max([*own, *drawn, 0]) or 1], fixedrange=True, zeroline=False)
    return figure.update_layout(
        height=130 + SAMPLING_ROW * len(rows), bargap=0.3, showlegend=bool(drawn), hovermode="closest"
    )


def cumulative(own: Sequence[float], drawn: Sequence[float], kept: int, theme: Theme, title: str) -> go.Figure:
    """Draw the cumulative probability of the likeliest tokens, for the model and after a decoding rule.

    ``own`` (model) and ``drawn`` (after the rule) are the probability of each token, the likeliest token first. Without
    a rule ``drawn`` is empty. A dotted line marks the number of tokens that the rule keeps, ``kept``, if it is within
    the figure.
    """
    ranks = list(range(1, len(own) + 1))
    figure = empty(theme, title, _("the likeliest n tokens"), _("cumulative probability"))
    for name, values, colour, dash in (
        (_("the model"), own, theme.heads, "solid"),
        (_("under these rules"), drawn, theme.accent, "dash"),
    ):
        if not values:
            continue
        figure.add_scatter(
            name=name,
            x=ranks,
            y=np.cumsum(np.asarray(values, np.float64)).tolist(),
            mode="lines",
            line={"color": colour, "dash": dash, "width": 2.5},
            hovertemplate=_("the likeliest %{x}: %{y:.4f}"),
        )
    if kept <= len(ranks):
        line = {"dash": "dot", "color": theme.line, "width": 1.5}
        figure.add_vline(x=kept, line=line, showlegend=True, name=_("{kept} kept", kept=kept))
    steps = [n for n in (1, 2, 5, 10, 20, 50, 100) if n <= len(ranks)]
    span = [-0.03, float(np.log10(max(len(ranks), 2))) + 0.03]
    figure.update_xaxes(type="log", range=span, tickvals=steps, ticktext=[str(n) for n in steps], fixedrange=True)
    figure.update_yaxes(range=[0, 1.04], fixedrange=True)
    return figure.update_layout(height=330, margin={"b": LEGEND}, hovermode="x", showlegend=len(drawn) > 0)


TICKS = 48  # labels of the axis at most; longer texts label every second, third … token


def received_by_token(
    received: FloatArray,
    mean: FloatArray,
    tokens: Sequence[str],
    theme: Theme,
    head: str,
) -> go.Figure:
    """Draw the attention that each token receives in a head as bars, and the mean over all heads as marks.

    ``received`` and ``mean`` are (key,), each the mean over the queries. ``tokens`` names the keys, ``head`` the head.
    In a causal model early tokens receive more, because more queries see them.
    """
    figure = empty(theme, _("Attention received"), _("Token"), _("Mean weight"))
    places, labels = np.arange(len(tokens)), [escape_label(truncate(token)) for token in tokens]
    names = [[label, place] for place, label in enumerate(labels)]
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
        name=_("the mean of all heads"),
        x=places,
        y=mean,
        customdata=names,
        mode="markers",
        marker={"color": theme.heads, "symbol": "line-ew", "size": 12, "line": {"color": theme.heads, "width": 3}},
        hovertemplate=hover,
    )
    even = float(received.sum()) / max(1, len(tokens))
    reference(figure, theme, even, _("uniform: {even:.3f}", even=even))
    step = max(1, -(-len(tokens) // TICKS))
    figure.update_xaxes(tickvals=places[::step], ticktext=labels[::step], tickangle=-60, showgrid=False)
    return figure


MOST = 60  # words drawn at most
SIGNS = (0.15, 0.85)  # places of the colours for negative and positive bars on the diverging scale


def importance(words: Sequence[str], ways: Mapping[str, FloatArray], theme: Theme, unit: str) -> go.Figure:
    """Draw the attribution of each word by each method: a group of bars per word, in text order.

    ``ways`` maps the name of a method to its values, (word,) in ``unit``. Colours show the sign, as in the shaded text
    of a method, and a pattern the method. Beyond MOST words only the first MOST are drawn.
    """
    shown = words[:MOST]
    below, above = (color_at(diverging_scale(theme), end) for end in SIGNS)
    figure = empty(theme, _("Attribution of each word"), unit, "")
    for (name, values), pattern in zip(ways.items(), ("", "/"), strict=False):
        figure.add_bar(
            orientation="h",
            x=values[: len(shown)].tolist(),
            y=list(range(len(shown))),
            name=escape_label(name),
            marker={
                "color": [above if value > 0 else below for value in values[: len(shown)]],
                "pattern": {"shape": pattern},
            },
            customdata=[escape_label(word) for word in shown],
            hovertemplate="%{customdata}: %{x:.3f}",
            showlegend=True,
        )
    figure.update_xaxes(zeroline=True, zerolinecolor=theme.line, zerolinewidth=1, fixedrange=True)
    figure.update_yaxes(
        tickvals=list(range(len(shown))),
        ticktext=[escape_label(truncate(word)) for word in shown],
        autorange="reversed",
        rangemode="normal",
        showgrid=False,
        fixedrange=True,
    )
    figure.update_layout(height=150 + 34 * len(shown), barmode="group", bargap=0.25, margin={"b": LEGEND})
    return figure


TWO_READINGS_ROW = 24  # height of a word's row in pixels


def two_readings(  # noqa: PLR0913  (keyword options of a figure)
    words: Sequence[str],
    first: FloatArray,
    second: FloatArray,
    names: tuple[str, str],
    theme: Theme,
    title: str,
    *,
    marked: int | None = None,
) -> go.Figure:
    """Draw the weights of each word in two texts as pairs of marks, the first word on top.

    ``first`` and ``second`` are (word,), and ``names`` are the names of the texts in the legend. A word that is
    missing in a text (NaN) has no mark there. The label of the word ``marked`` has the accent colour.
    """
    figure = empty(theme, title, _("weight"), "")
    down = np.arange(len(words))
    both = np.flatnonzero(np.isfinite(first) & np.isfinite(second))
    between = np.full(3 * len(both), np.nan)
    between[::3], between[1::3] = first[both], second[both]
    figure.add_scatter(
        x=between.tolist(),
        y=np.repeat(down[both], 3).tolist(),
        mode="lines",
        line={"color": theme.grid, "width": 4},
        hoverinfo="skip",
        showlegend=False,
    )
    for name, values, colour, symbol in (
        (names[0], first, theme.heads, "circle"),
        (names[1], second, theme.accent, "diamond"),
    ):
        there = np.flatnonzero(np.isfinite(values))
        figure.add_scatter(
            name=escape_label(name),
            x=values[there].tolist(),
            y=down[there].tolist(),
            customdata=[escape_label(words[at]) for at in there.tolist()],
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 10, "line": {"color": theme.line, "width": 1}},
            hovertemplate="%{customdata}: %{x:.4f}",
        )
    most = float(np.nanmax([*first, *second, 0.1]))
    figure.update_xaxes(range=[-0.02 * most, 1.05 * most], rangemode="normal", fixedrange=True)
    figure.update_yaxes(
        tickvals=down.tolist(),
        ticktext=[_word_label(word, theme.accent if at == marked else "") for at, word in enumerate(words)],
        range=[len(words) - 0.4, -0.6],
        rangemode="normal",
        showgrid=False,
        fixedrange=True,
    )
    figure.update_layout(meta={"y": (_("Word"), [escape_label(word) for word in words])})
    return figure.update_layout(height=150 + TWO_READINGS_ROW * len(words), margin={"b": 60})


def _word_label(word: str, colour: str) -> str:
    """Return a word as a label, in bold and in ``colour`` unless ``colour`` is "".

    >>> _word_label("<b>", ""), _word_label("it", "#d55e00")
    ('&lt;b&gt;', '<b style="color:#d55e00">it</b>')
    """
    label = escape_label(truncate(word, 22))
    return f'<b style="color:{colour}">{label}</b>' if colour else label


def two_words(
    sentences: Sequence[str], words: Sequence[str], chances: Sequence[Sequence[float]], theme: Theme
) -> go.Figure:
    """Draw the probabilities of two words in each sentence as bars; ``chances`` is (sentence, word)."""
    figure = empty(theme, _("Probability in each sentence"), _("Probability"), "")
    for at, (word, colour) in enumerate(zip(words, (theme.heads, theme.accent), strict=True)):
        values = [row[at] for row in chances]
        figure.add_bar(
            orientation="h",
            x=values,
            y=list(range(len(sentences))),
            name=escape_label(truncate(word)),
            marker={"color": colour},
            text=[typeset_number(f"{value:.2g}") for value in values],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{x:.5g}",
            showlegend=True,
        )
    most = max(max(row) for row in chances)
    figure.update_xaxes(range=[0, 1.15 * most], fixedrange=True)
    figure.update_yaxes(
        tickvals=list(range(len(sentences))),
        ticktext=[_("first sentence"), _("second sentence")][: len(sentences)],
        autorange="reversed",
        rangemode="normal",
        showgrid=False,
        fixedrange=True,
    )
    figure.update_layout(height=290, barmode="group", bargap=0.3, margin={"b": LEGEND})
    return figure


PART_OF_SCORE = gettext_lazy("part of the score")


def source_terms(  # noqa: PLR0913  # the bars and their labels
    sources: Mapping[str, Sequence[float]],
    names: Sequence[str],
    theme: Theme,
    title: str,
    unit: str = PART_OF_SCORE,
    intervals: Sequence[tuple[float, float]] = (),
) -> go.Figure:
    """Draw the signed contribution of each source to a score as bars, the first source on top.

    ``sources`` maps the name of a source to its values in ``unit``, a bar for each of ``names`` (the text, or the
    text and a variant of it). ``intervals`` are the ends of the interval of each source's first value, if there are
    any.
    """
    rows, labels = list(range(len(sources))), [escape_label(name) for name in sources]
    figure = empty(theme, title, translate(unit), "")
    for at, (name, colour) in enumerate(zip(names, (theme.heads, theme.accent), strict=False)):
        figure.add_bar(
            orientation="h",
            x=[values[at] for values in sources.values()],
            y=rows,
            name=escape_label(name),
            marker={"color": colour},
            customdata=labels,
            hovertemplate="%{customdata}: %{x:+.3f}",
            showlegend=len(names) > 1,
        )
    if intervals:
        middles = [values[0] for values in sources.values()]
        figure.data[0].error_x = _error_bars(middles, intervals, theme)
    figure.update_xaxes(zeroline=True, zerolinecolor=theme.line, zerolinewidth=1, fixedrange=True)
    figure.update_yaxes(
        tickvals=rows, ticktext=labels, autorange="reversed", rangemode="normal", showgrid=False, fixedrange=True
    )
    height = 110 + (34 if len(names) > 1 else 26) * len(rows) + (LEGEND if len(names) > 1 else 0)
    below = {"b": LEGEND} if len(names) > 1 else {}
    return figure.update_layout(height=height, barmode="group", bargap=0.25, margin=below)
