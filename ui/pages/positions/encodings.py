"""Position encodings: sinusoidal and learned vectors, the shift matrix, and scores by distance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st

from attention.positions import (
    BASE,
    BUCKETS,
    FARTHEST,
    Counts,
    Numbers,
    alibi_slopes,
    by_distance,
    closest_rows,
    frequencies,
    neighbours,
    rotary_bound,
    rotary_score,
    shift_error,
    shift_matrix,
    sinusoidal,
    t5_buckets,
)
from attention.record import Record, first_attending
from attention.trace import Trace
from i18n import _, gettext_lazy
from i18n.lists import format_comma_list, join_sentences
from inference.tasks.positions import Bias, Positions, PositionTable
from ui.input.controls import bound_widget
from ui.pages.positions.position_scheme import LONGEST, PositionsOptions, draw_length_limit, length_of
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_matrices
from ui.show.text import format_small
from ui.state.params import set_params
from ui.state.view_state import ViewState
from viz.components.matrices.matrices import MatrixSpec
from viz.figures.positions import RotarySet, buckets, by_head, curves, products, rotary, similarity
from viz.figures.theme import sides

WIDEST = 1024  # The maximum number of dimensions.
USUAL = 64  # The default dimension if the model has no table.
READABLE = 8  # The default dimension of the shift matrix, small enough for readable numbers.
FORMULAS = (
    r"PE_{(pos,2i)}=\sin(pos/10000^{2i/d})",
    r"PE_{(pos,2i+1)}=\cos(pos/10000^{2i/d})",
    r"PE_{pos+k}=M_k\,PE_{pos}",
)
SHOWN = 0.99  # The quantile of the numbers at the end of the colour scale; outliers are far larger.


def size_of(options: PositionsOptions, fits: int) -> int:
    """Return the dimension of the sinusoidal vectors, chosen or ``fits``; always even.

    >>> size_of(PositionsOptions(), 384), size_of(PositionsOptions(size=7), 384)
    (384, 6)
    """
    size = min(max(2, options.size or fits), WIDEST)
    return size - size % 2


def pick_sizes(options: PositionsOptions, fits: int, columns: Sequence[Any]) -> tuple[int, int]:
    """Draw the controls and return length and dimension; ``fits`` is the default dimension."""
    bound_widget(
        PositionsOptions,
        "length",
        columns[0].slider,
        _("Positions drawn"),
        2,
        LONGEST,
        shown=length_of(options),
    )
    bound_widget(
        PositionsOptions,
        "size",
        columns[1].number_input,
        min_value=2,
        max_value=WIDEST,
        step=2,
        shown=size_of(options, fits),
    )
    return length_of(options), size_of(options, fits)


def vectors(held: Positions, options: PositionsOptions) -> None:
    """Draw the sinusoidal vectors of arXiv:1706.03762 next to those of the model, in the same figures."""
    table = held.tables[0] if held.tables else None
    length, size = pick_sizes(options, USUAL if table is None else table.vectors.shape[1], st.columns(2))
    sines = sinusoidal(length, size)
    left, right = st.columns(2)
    with left:
        show_notice(_("{name}: {facts}", name=_("sinusoidal"), facts=_facts(sines)), role="status")
    if table is None:
        with right:
            show_notice(
                _(
                    "{model} adds no position vectors; see “Scores by distance”.",
                    model=held.model,
                ),
                role="status",
            )
        _sheet(sines, _("sinusoidal"), 1.0, "sines")
        pairs = [("sinusoidal", _("sinusoidal"), sines)]
    else:
        own = table.vectors[:length].astype(np.float64)
        kind = _("sinusoidal") if table.layout else _("learned")
        with right:
            about = _("{name}: {facts}", name=f"{held.model} ({kind})", facts=_facts(own))
            show_notice(join_sentences(about, _agreement(table)), role="status")
        left, right = st.columns(2)
        with left:
            _sheet(sines, _("sinusoidal"), 1.0, "sines")
        with right:
            limit = 1.0 if table.layout else float(np.quantile(np.abs(own), SHOWN)) or 1.0
            _sheet(own, f"{table.path}, {kind}", limit, "own_table")
        pairs = [("sinusoidal", _("sinusoidal"), sines), ("own", _("The model's own"), own)]
    below, above = sides(theme())
    st.caption(
        _(
            "Rows: positions; columns: dimensions; {below}: negative; {above}: positive.",
            below=below,
            above=above,
        )
    )
    _figures(options, pairs)
    draw_length_limit(held)


def _sheet(values: Numbers, name: str, limit: float, key: str) -> None:
    beyond = float((np.abs(values) > limit).mean())
    note = _(
        "{positions} positions × {dimensions} dimensions; {beyond:.1%} exceed the colour scale",
        positions=len(values),
        dimensions=values.shape[1],
        beyond=beyond,
    )
    draw_matrices([MatrixSpec(name, values, note=note, limit=limit)], key)


def _figures(options: PositionsOptions, pairs: Sequence[tuple[str, str, Numbers]]) -> None:
    narrowest = min(values.shape[1] for *_names, values in pairs)
    chosen = dimensions_of(options.curves, narrowest)
    st.session_state["positions_curves"] = chosen
    st.multiselect(
        _("Dimensions plotted"),
        range(narrowest),
        key="positions_curves",
        max_selections=8,
        placeholder=_("Nothing picked"),
        on_change=lambda: set_params(PositionsOptions, curves="-".join(map(str, st.session_state["positions_curves"]))),
        help=_("Low sinusoidal dimensions oscillate fast, high ones slowly"),
    )
    for column, (key, name, values) in zip(st.columns(2), pairs, strict=False):
        with column:
            titles = (_("Dimensions plotted"), _("Dot products"), _("Cosine similarity with the next position"))
            curve, product, neighbour = (_("{name}: {facts}", name=name, facts=facts) for facts in titles)
            draw_chart(curves(values, chosen, theme(), curve), f"curves_{key}")
            draw_chart(products(by_distance(values), theme(), product), f"products_{key}")
            st.caption(_("Band: the product also depends on the positions, and at distance 0 may leave the plot."))
            draw_chart(similarity(neighbours(values), theme(), neighbour), f"neighbours_{key}")


def dimensions_of(stated: str, count: int) -> list[int]:
    """Return the valid dimensions in ``stated``; by default two of high and two of low frequency.

    >>> dimensions_of("3-1-99", 8), dimensions_of("", 64)
    ([3, 1], [0, 1, 16, 17])
    """
    found = [int(part) for part in stated.split("-") if part.isascii() and part.isdigit() and len(part) < 6]
    kept = [dimension for dimension in dict.fromkeys(found) if dimension < count][:8]
    slower = count // 4 - count // 4 % 2
    return kept or sorted({0, 1, slower, slower + 1} & set(range(count)))


def _facts(values: Numbers) -> str:
    """Return a phrase on a table's largest number, its closest rows and the cosine of its neighbours."""
    gap, first, second = closest_rows(values)
    cosines = neighbours(values)
    return _(
        "largest number {largest}; closest of {rows} rows: {first} and {second}, {gap} apart; "
        "neighbours' cosines {least:.2f} to {most:.2f}.",
        largest=format_small(float(np.abs(values).max())),
        rows=len(values),
        first=first,
        second=second,
        gap=format_small(gap),
        least=cosines.min(),
        most=cosines.max(),
    )


def _agreement(table: PositionTable) -> str:
    """Return a sentence that compares a sinusoidal table with the formula; "" for other tables."""
    if table.error is None:
        return ""
    error = format_small(table.error)
    if table.layout == "halves":
        return _("The paper's formula with all sines first, to within {error}.", error=error)
    return _("It differs from the paper's formula by up to {error}.", error=error)


def shifting(options: PositionsOptions) -> None:
    """Draw the shift matrix M_k and the error of M_k · PE(pos) against PE(pos + k)."""
    columns = st.columns(3)
    length, size = pick_sizes(options, READABLE, columns)
    shift = min(options.shift, length - 1)
    bound_widget(PositionsOptions, "shift", columns[2].number_input, min_value=0, max_value=length - 1, shown=shift)
    for formula in FORMULAS:
        st.latex(formula)
    matrix = shift_matrix(shift, size)
    error = shift_error(sinusoidal(length, size), shift, matrix)
    show_notice(
        _(
            "One matrix shifts positions by {shift}: over {positions} positions and {dimensions} "
            "dimensions PE(pos + {shift}) and M·PE(pos) differ by at most {error:.1e}.",
            shift=shift,
            positions=length - shift,
            dimensions=size,
            error=error,
        ),
        role="status",
    )
    names = tuple(str(dimension) for dimension in range(size))
    note = _("{size} × {size}; 0 outside the {blocks} blocks of 2 × 2", size=size, blocks=size // 2)
    draw_matrices([MatrixSpec(f"M, k = {shift}", matrix, names, names, note, limit=1.0)], "shift_matrix")
    st.caption(
        _(
            "Each 2 × 2 block rotates a sine–cosine pair by k times its frequency. M depends on k "
            "only, so attending by relative position may be easy to learn."
        )
    )


USUAL_WIDTH = 64  # The assumed number of channels of a head if the model reports none.
FROM_PAPER = gettext_lazy("{model} has no such numbers; the paper's are {settings}.")


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
        settings = _("base {base}, d_k = {width}", base=f"{BASE:,.0f}", width=width)
        source = _(FROM_PAPER, model=held.model, settings=settings)
    turnings = [
        RotarySet(name, rotary_score(distances, omega), rotary_bound(distances, omega))
        for name, omega in omegas.items()
    ]
    show_notice(join_sentences(source, _falling(turnings[0], reach)), role="status")
    draw_chart(rotary(turnings, theme(), _("Rotary: score by distance")), "rotary_scores")
    st.caption(
        _(
            "Solid: score of a key equal to its query, with equal rotated channels. Dotted: the "
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
    if held.slopes is not None:
        slopes: Numbers = held.slopes.astype(np.float64)
        source = ""
    else:
        slopes = alibi_slopes(trace.heads)
        settings = f"h = {trace.heads}"
        source = _(FROM_PAPER, model=held.model, settings=settings)
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
    _heads(offsets, slopes[:, None] * offsets, choice, _("ALiBi: bias by distance"), "alibi_scores")


def _t5(held: Positions, choice: ViewState, reach: int) -> None:
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
        st.caption(_("Near distances have own buckets, far ones share; earlier keys use the lower half."))
        return
    bias = _of_layer(held, choice)
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
    _heads(offsets, values, choice, _("T5: bias by distance"), "t5_scores")
    st.caption(
        _(
            "Lines: heads. Beyond {farthest} tokens distances share a value.",
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
