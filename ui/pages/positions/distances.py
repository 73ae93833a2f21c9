"""The effect of the distance between tokens on scores: rotary positions, ALiBi and T5's position bias."""

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
from i18n import _, gettext_lazy, typeset_number
from i18n.lists import format_comma_list, join_sentences
from inference.tasks.positions import Bias, Positions, PositionsRequest
from ui.input.controls import bound_widget
from ui.pages.positions.position_scheme import LONGEST, PositionsOptions, draw_length_limit, length_of, provenance_of
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.text import format_small
from ui.state.view_state import ViewState
from viz.figures.positions import RotarySet, buckets, by_head, rotary
from viz.paper.notebook import Computation

ROTARY = """\
numbers = [(rotary_score(distances, omega), rotary_bound(distances, omega)) for omega in omegas]"""
T5 = """\
found = t5_buckets(offsets, len(bias.values), bias.farthest, bias.both_ways)
values = bias.values[found].T"""
USUAL_WIDTH = 64  # The assumed number of channels of a head if the model reports none.
FROM_PAPER = gettext_lazy("{model} does not use this scheme. Drawn as in {paper}, with {settings}.")
ROTARY_PAPER, ALIBI_PAPER, T5_PAPER = "arXiv:2104.09864", "arXiv:2108.12409", "arXiv:1910.10683"


def scores(
    choice: ViewState, trace: Trace, held: Positions, question: PositionsRequest, options: PositionsOptions
) -> None:
    """Draw how scores depend on the distance of two tokens: rotary positions, ALiBi and T5's bias.

    The scheme that the model uses comes first. ``held`` has the model's positions, the answer to ``question``.
    """
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
        "rotary": (bool(held.rotary), lambda: _rotary(held, question, trace, reach)),
        "alibi": (held.slopes is not None, lambda: _alibi(held, question, trace, choice, reach)),
        "t5": (bool(held.biases), lambda: _t5(held, question, choice, reach)),
    }
    for _own, draw in sorted(sections.values(), key=lambda section: not section[0]):
        draw()
    draw_length_limit(held)


def _rotary(held: Positions, question: PositionsRequest, trace: Trace, reach: int) -> None:
    distances = np.arange(reach + 1)
    if held.rotary:
        code = "omegas = [one.frequencies.astype(np.float64) for one in backend.inspect(request).rotary]"
        computation = Computation(code, request=question)
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
        computation = Computation(f"omegas = [frequencies({width})]", frequencies=frequencies)
        settings = _("base {base}, d_k = {width}", base=f"{BASE:,.0f}", width=width)
        source = _(FROM_PAPER, model=held.model, paper=ROTARY_PAPER, settings=settings)
    turnings = [
        RotarySet(name, rotary_score(distances, omega), rotary_bound(distances, omega))
        for name, omega in omegas.items()
    ]
    show_notice(join_sentences(source, _falling(turnings[0], reach)), role="status")
    code = f"distances = np.arange({reach + 1})\n{ROTARY}"
    computation = computation.then(code, rotary_score=rotary_score, rotary_bound=rotary_bound)
    figure = rotary(turnings, theme(), _("Rotary: score by distance"))
    draw_chart(figure, "rotary_scores", about=provenance_of(computation), computation=computation)
    st.caption(
        _(
            "The key equals its query, with equal rotated channels. The paper's upper bound is the dotted "
            "decay times a factor of the vectors, so scores may exceed the dots."
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


def _alibi(held: Positions, question: PositionsRequest, trace: Trace, choice: ViewState, reach: int) -> None:
    if held.slopes is not None:
        slopes: Numbers = held.slopes.astype(np.float64)
        computation = Computation("slopes = backend.inspect(request).slopes.astype(np.float64)", request=question)
        source = ""
    else:
        slopes = alibi_slopes(trace.heads)
        computation = Computation(f"slopes = alibi_slopes({trace.heads})", alibi_slopes=alibi_slopes)
        settings = f"h = {trace.heads}"
        source = _(FROM_PAPER, model=held.model, paper=ALIBI_PAPER, settings=settings)
    show_notice(
        join_sentences(
            source,
            _(
                "Slopes per token of distance: {least} to {most}.",
                most=format_small(float(slopes.max())),
                least=format_small(float(slopes.min())),
            ),
        ),
        role="status",
    )
    offsets = np.arange(-reach, 1)
    computation = computation.then(f"values = slopes[:, None] * np.arange({-reach}, 1)")
    _heads(offsets, slopes[:, None] * offsets, choice, _("ALiBi: bias by distance"), "alibi_scores", computation)


def _t5(held: Positions, question: PositionsRequest, choice: ViewState, reach: int) -> None:
    offsets, code = np.arange(-reach, reach + 1), f"offsets = np.arange({-reach}, {reach + 1})\n"
    if not held.biases:
        settings = _(
            "{buckets} buckets up to a distance of {farthest} (values are learned)",
            buckets=BUCKETS,
            farthest=FARTHEST,
        )
        show_notice(_(FROM_PAPER, model=held.model, paper=T5_PAPER, settings=settings), role="status")
        figure = buckets(offsets, t5_buckets(offsets), theme(), _("T5: bucket by distance"))
        computation = Computation(f"{code}numbers = t5_buckets(offsets)", t5_buckets=t5_buckets)
        draw_chart(figure, "t5_buckets", about=provenance_of(computation), computation=computation)
        st.caption(
            _("Near distances have their own buckets; far distances share them. Earlier keys use the lower half.")
        )
        return
    at = _bias_index(held, choice)
    bias = held.biases[at]
    values = by_offset(bias, offsets)
    head = _head(choice, len(values))
    top, low = (int(offsets[int(at)]) for at in (values[head].argmax(), values[head].argmin()))
    show_notice(
        _(
            "{model} ({path}): head {head} adds most, {most:.2f}, at distance {top}, least, {least:.2f}, at {low}.",
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
    code += f"bias = backend.inspect(request).biases[{at}]\n{T5}"
    computation = Computation(code, request=question, t5_buckets=t5_buckets)
    _heads(offsets, values, choice, _("T5: bias by distance"), "t5_scores", computation)
    st.caption(
        _(
            "Beyond {farthest} tokens distances share a value.",
            farthest=bias.farthest,
        )
    )


def _format_signed(offset: int) -> str:
    return typeset_number(f"{offset:+d}") if offset else "0"


def by_offset(bias: Bias, offsets: Counts) -> Numbers:
    """Return T5's position bias of each head at each offset (key minus query), shape (head, offset).

    >>> bias = Bias("bias", np.array([[5.0], [6], [7], [8]], np.float32), 3, both_ways=True)
    >>> by_offset(bias, np.array([-1, 0, 1])).tolist()
    [[6.0, 5.0, 8.0]]
    """
    found = t5_buckets(offsets, len(bias.values), bias.farthest, bias.both_ways)
    result: Numbers = bias.values[found].T.astype(np.float64)
    return result


def _bias_index(held: Positions, choice: ViewState) -> int:
    """Return the index of the bias of the selected layer; 0 if the layers share a bias."""
    layer = choice.layer or 0
    return layer if layer < len(held.biases) else 0


def _head(choice: ViewState, heads: int) -> int:
    return choice.head if choice.head is not None and choice.head < heads else 0


def _heads(  # noqa: PLR0913  (a figure and its computation)
    offsets: Counts, values: Numbers, choice: ViewState, title: str, key: str, computation: Computation
) -> None:
    """Draw a line per head; ``computation`` gives ``values``."""
    head = _head(choice, len(values))
    figure = by_head(offsets, values, head, theme(), title)
    numbers = f"numbers = [*np.delete(values, {head}, axis=0), values[{head}]]"
    draw_chart(figure, key, about=provenance_of(computation), computation=computation.then(numbers))
