"""What distance does to a score, on the Positions page: the chosen model's way first, then the other papers'."""

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
from attention.record import Record
from attention.trace import Trace
from inference.questions.positions import Bias, Positions
from ui.input.picking import control
from ui.pages.positions.options import LONGEST, Options, length_of
from ui.pages.positions.what_it_holds import past_the_end
from ui.run.refusals import say
from ui.show.chart import draw_chart, theme
from ui.show.numbers import small
from ui.state.choice import Choice
from viz.figures.positions_scores import Turning, buckets, by_head, rotary

USUAL_WIDTH = 64  # channels of a head where the model tells none
FROM_PAPER = "No such numbers were found in {model}: these are the paper's settings, {settings}."


def scores(choice: Choice, trace: Trace, held: Positions, options: Options) -> None:
    """Rotary positions, ALiBi and T5's bias over distances; what the model has comes first."""
    control(Options, "length", st.slider, "Distances up to", 2, LONGEST, shown=length_of(options),
         help="Tokens between a query and a key")  # fmt: skip
    reach = length_of(options)
    sections: dict[str, tuple[bool, Callable[[], None]]] = {
        "rotary": (bool(held.rotary), lambda: _rotary(held, trace, reach)),
        "alibi": (held.slopes is not None, lambda: _alibi(held, trace, choice, reach)),
        "t5": (bool(held.biases), lambda: _t5(held, choice, reach)),
    }
    for _, draw in sorted(sections.values(), key=lambda section: not section[0]):
        draw()
    past_the_end(held)


def _rotary(held: Positions, trace: Trace, reach: int) -> None:
    st.markdown("**Rotary: queries and keys are turned**")
    distances = np.arange(reach + 1)
    if held.rotary:
        omegas = {turning.layers.replace("_", " "): turning.frequencies.astype(np.float64) for turning in held.rotary}
        waves = [2 * np.pi / omega for omega in omegas.values()]
        source = (
            f"From {held.model}'s own angles: the fastest pair of channels comes round every "
            f"{min(float(wave.min()) for wave in waves):.1f} tokens, the slowest every "
            f"{max(float(wave.max()) for wave in waves):,.0f}."
        )
    else:
        width = _width(trace)
        omegas = {"": frequencies(width)}
        settings = f"base {BASE:,.0f}, for heads of {width} channels"
        source = FROM_PAPER.format(model=held.model, settings=settings)
    turnings = [
        Turning(name, rotary_score(distances, omega), rotary_bound(distances, omega)) for name, omega in omegas.items()
    ]
    say(f"{source} {_falling(turnings[0], reach)}", role="status")
    draw_chart(rotary(turnings, theme(), "Rotary: a score over the distance"), "rotary_scores")
    st.caption(
        "Full line: the score of a key equal to its query, from the turned channels alone, all of one size. Dotted: "
        "what the paper bounds every score by, as a share of its own value at distance 0. Real scores also depend on "
        "what the vectors hold."
    )


def _width(trace: Trace) -> int:
    """Channels of a head of this model, where it tells them and they come in pairs."""
    first = trace.records()[0]
    width = first.query.shape[-1] if isinstance(first, Record) else USUAL_WIDTH
    return width if width % 2 == 0 else USUAL_WIDTH


def _falling(turning: Turning, reach: int) -> str:
    at = sorted({min(1, reach), min(10, reach), reach})
    parts = [f"{turning.score[distance]:.2f} at distance {distance}" for distance in at]
    name = f" ({turning.name})" if turning.name else ""
    return f"Of its score at distance 0 an equal key keeps {', '.join(parts)}{name}."


def _alibi(held: Positions, trace: Trace, choice: Choice, reach: int) -> None:
    st.markdown("**ALiBi: distance is taken off the score**")
    if held.slopes is not None:
        slopes: Numbers = held.slopes.astype(np.float64)
        source = f"From {held.model}'s own slopes."
    else:
        slopes = alibi_slopes(trace.heads)
        settings = f"for {trace.heads} heads as this model has them"
        source = FROM_PAPER.format(model=held.model, settings=settings)
    say(
        f"{source} The steepest head takes {small(float(slopes.max()))} from a score for each token of distance, the "
        f"flattest {small(float(slopes.min()))}.",
        role="status",
    )
    offsets = np.arange(-reach, 1)
    _heads(offsets, slopes[:, None] * offsets, choice, "ALiBi: what is added to a score", "alibi_scores")
    st.caption("Each line is a head: minus its slope times the distance. Keys after the query are hidden by the mask.")


def _t5(held: Positions, choice: Choice, reach: int) -> None:
    st.markdown("**T5: a learned number for each bucket of distances**")
    offsets = np.arange(-reach, reach + 1)
    if not held.biases:
        settings = f"{BUCKETS} buckets up to a distance of {FARTHEST}; their numbers are learned, so none can be shown"
        say(FROM_PAPER.format(model=held.model, settings=settings), role="status")
        figure = buckets(offsets, t5_buckets(offsets), theme(), "T5: which bucket a distance falls into")
        draw_chart(figure, "t5_buckets")
        st.caption(
            "Near keys have a bucket for every distance, far ones share; earlier keys have the lower half of the "
            "buckets, later ones the upper half."
        )
        return
    bias = _of_layer(held, choice)
    values = by_offset(bias, offsets)
    head = _head(choice, len(values))
    top, low = (int(offsets[int(at)]) for at in (values[head].argmax(), values[head].argmin()))
    say(
        f"From {held.model}'s own numbers ({bias.path}): head {head + choice.count} adds most, "
        f"{values[head].max():.2f}, at distance {_signed(top)} and least, {values[head].min():.2f}, at {_signed(low)}.",
        role="status",
    )
    _heads(offsets, values, choice, "T5: what is added to a score", "t5_scores")
    st.caption(
        f"Each line is a head: the learned number of the distance's bucket. On either side all distances "
        f"beyond {bias.farthest} tokens share one, so no text is too long for it."
    )


def _signed(offset: int) -> str:
    return f"{offset:+d}" if offset else "0"


def by_offset(bias: Bias, offsets: Counts) -> Numbers:
    """What each head adds at each offset, (head, offset).

    >>> bias = Bias("bias", np.array([[5.0], [6], [7], [8]], np.float32), 3, both_ways=True)
    >>> by_offset(bias, np.array([-1, 0, 1])).tolist()
    [[6.0, 5.0, 8.0]]
    """
    found = t5_buckets(offsets, len(bias.values), bias.farthest, bias.both_ways)
    result: Numbers = bias.values[found].T.astype(np.float64)
    return result


def _of_layer(held: Positions, choice: Choice) -> Bias:
    """The chosen layer's bias where each layer has its own, else the one that all share."""
    layer = choice.layer or 0
    return held.biases[layer] if layer < len(held.biases) else held.biases[0]


def _head(choice: Choice, heads: int) -> int:
    return choice.head if choice.head is not None and choice.head < heads else 0


def _heads(offsets: Counts, values: Numbers, choice: Choice, title: str, key: str) -> None:
    figure = by_head(offsets, values, _head(choice, len(values)), theme(), title, base=choice.count)
    draw_chart(figure, key)
