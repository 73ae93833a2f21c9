"""Positions page: the effect of distance on scores with rotary positions, ALiBi and T5 biases."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from attention.positions import (
    BASE,
    BUCKETS,
    FARTHEST,
    Counts,
    Numbers,
    alibi_slopes,
    frequencies,
    rotary_bound,
    rotary_score,
    t5_buckets,
)
from attention.record import Record, first_attending
from attention.trace import Trace
from i18n import _, gettext_lazy
from i18n.lists import format_comma_list, join_sentences
from inference.tasks.positions import Bias, Positions
from ui.input.controls import bound_widget
from ui.pages.positions.options import LONGEST, PositionsOptions, length_of
from ui.pages.positions.position_scheme import draw_length_limit
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.text import format_small
from ui.state.view_state import ViewState
from viz.figures.positions import RotarySet, buckets, by_head, rotary

USUAL_WIDTH = 64  # The assumed number of channels of a head if the model reports none.
FROM_PAPER = gettext_lazy("{model} has no such numbers; shown are the paper's: {settings}.")


def scores(choice: ViewState, trace: Trace, held: Positions, options: PositionsOptions) -> None:
    """Draw rotary positions, ALiBi and T5's bias by distance; the schemes of the model come first."""
    bound_widget(
        PositionsOptions,
        "length",
        st.slider,
        _("Distances up to"),
        2,
        LONGEST,
        shown=length_of(options),
    )
    reach = length_of(options)
    sections: dict[str, tuple[bool, Callable[[], None]]] = {
        "rotary": (bool(held.rotary), lambda: _rotary(held, trace, reach)),
        "alibi": (held.slopes is not None, lambda: _alibi(held, trace, choice, reach)),
        "t5": (bool(held.biases), lambda: _t5(held, choice, reach)),
    }
    for _own, draw in sorted(sections.values(), key=lambda section: not section[0]):
        draw()
    draw_length_limit(held)


def _rotary(held: Positions, trace: Trace, reach: int) -> None:
    st.markdown(_("**Rotary**"))
    distances = np.arange(reach + 1)
    if held.rotary:
        omegas = {turning.layers.replace("_", " "): turning.frequencies.astype(np.float64) for turning in held.rotary}
        waves = [2 * np.pi / omega for omega in omegas.values()]
        source = _(
            "{model}'s own angles: periods of {fastest:.1f} to {slowest:,.0f} tokens.",
            model=held.model,
            fastest=min(float(wave.min()) for wave in waves),
            slowest=max(float(wave.max()) for wave in waves),
        )
    else:
        width = _width(trace)
        omegas = {"": frequencies(width)}
        settings = _("base {base:,.0f}, for heads of {width} channels", base=BASE, width=width)
        source = _(FROM_PAPER, model=held.model, settings=settings)
    turnings = [
        RotarySet(name, rotary_score(distances, omega), rotary_bound(distances, omega))
        for name, omega in omegas.items()
    ]
    show_notice(join_sentences(source, _falling(turnings[0], reach)), role="status")
    draw_chart(rotary(turnings, theme(), _("Rotary: score by distance")), "rotary_scores")
    st.caption(
        _(
            "Solid: score of a key equal to its query, from rotated channels of one size. Dotted: the "
            "paper's upper bound, relative to distance 0. Real scores also depend on the vectors."
        )
    )


def _width(trace: Trace) -> int:
    """Return the number of channels of a head; USUAL_WIDTH if it is unknown or odd."""
    first = first_attending(trace.records())
    width = first.query.shape[-1] if isinstance(first, Record) else USUAL_WIDTH
    return width if width % 2 == 0 else USUAL_WIDTH


def _falling(turning: RotarySet, reach: int) -> str:
    at = sorted({min(1, reach), min(10, reach), reach})
    parts = [
        _("{score:.2f} at distance {distance}", score=turning.score[distance], distance=distance) for distance in at
    ]
    layers = f" ({turning.name})" if turning.name else ""
    return _("Relative to distance 0: {parts}{layers}.", parts=format_comma_list(parts), layers=layers)


def _alibi(held: Positions, trace: Trace, choice: ViewState, reach: int) -> None:
    st.markdown(_("**ALiBi**"))
    if held.slopes is not None:
        slopes: Numbers = held.slopes.astype(np.float64)
        source = _("{model}'s own slopes.", model=held.model)
    else:
        slopes = alibi_slopes(trace.heads)
        settings = _("for {heads} heads", heads=trace.heads)
        source = _(FROM_PAPER, model=held.model, settings=settings)
    show_notice(
        _(
            "{source} Slopes per token of distance: {least} to {most}.",
            source=source,
            most=format_small(float(slopes.max())),
            least=format_small(float(slopes.min())),
        ),
        role="status",
    )
    offsets = np.arange(-reach, 1)
    _heads(offsets, slopes[:, None] * offsets, choice, _("ALiBi: bias by distance"), "alibi_scores")
    st.caption(_("Each line is a head. The mask hides later keys."))


def _t5(held: Positions, choice: ViewState, reach: int) -> None:
    st.markdown(_("**T5**"))
    offsets = np.arange(-reach, reach + 1)
    if not held.biases:
        settings = _(
            "{buckets} buckets up to a distance of {farthest} (values are learned)",
            buckets=BUCKETS,
            farthest=FARTHEST,
        )
        show_notice(_(FROM_PAPER, model=held.model, settings=settings), role="status")
        figure = buckets(offsets, t5_buckets(offsets), theme(), _("T5: bucket by distance"))
        draw_chart(figure, "t5_buckets")
        st.caption(_("Near distances have their own buckets, far ones share; earlier keys use the lower half."))
        return
    bias = _of_layer(held, choice)
    values = by_offset(bias, offsets)
    head = _head(choice, len(values))
    top, low = (int(offsets[int(at)]) for at in (values[head].argmax(), values[head].argmin()))
    show_notice(
        _(
            "{model} ({path}): head {head} adds most, {most:.2f}, at distance {top} and least, {least:.2f}, at {low}.",
            model=held.model,
            path=bias.path,
            head=head,
            most=values[head].max(),
            top=_format_signed(top),
            least=values[head].min(),
            low=_format_signed(low),
        ),
        role="status",
    )
    _heads(offsets, values, choice, _("T5: bias by distance"), "t5_scores")
    st.caption(
        _(
            "Each line is a head. Distances beyond {farthest} tokens share a value, so any length works.",
            farthest=bias.farthest,
        )
    )


def _format_signed(offset: int) -> str:
    return f"{offset:+d}" if offset else "0"


def by_offset(bias: Bias, offsets: Counts) -> Numbers:
    """Return the bias of each head at each offset, shape (head, offset).

    >>> bias = Bias("bias", np.array([[5.0], [6], [7], [8]], np.float32), 3, both_ways=True)
    >>> by_offset(bias, np.array([-1, 0, 1])).tolist()
    [[6.0, 5.0, 8.0]]
    """
    found = t5_buckets(offsets, len(bias.values), bias.farthest, bias.both_ways)
    result: Numbers = bias.values[found].T.astype(np.float64)
    return result


def _of_layer(held: Positions, choice: ViewState) -> Bias:
    """Return the bias of the selected layer; the first if the layers share a bias."""
    layer = choice.layer or 0
    return held.biases[layer] if layer < len(held.biases) else held.biases[0]


def _head(choice: ViewState, heads: int) -> int:
    return choice.head if choice.head is not None and choice.head < heads else 0


def _heads(offsets: Counts, values: Numbers, choice: ViewState, title: str, key: str) -> None:
    figure = by_head(offsets, values, _head(choice, len(values)), theme(), title)
    draw_chart(figure, key)
