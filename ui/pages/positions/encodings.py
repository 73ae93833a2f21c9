"""Position encodings: sinusoidal and learned vectors, and the matrix that shifts a sinusoidal vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from attention.positions import (
    Numbers,
    by_distance,
    closest_rows,
    neighbours,
    shift_error,
    shift_matrix,
    sinusoidal,
)
from i18n import _
from i18n.lists import join_sentences
from inference.tasks.positions import Positions, PositionsRequest, PositionTable
from ui.input.controls import bound_widget
from ui.pages.positions.position_scheme import LONGEST, PositionsOptions, draw_length_limit, length_of, provenance_of
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_matrices
from ui.show.text import format_small
from ui.state.params import set_params
from viz.components.matrices.matrices import MatrixSpec
from viz.figures.positions import curves, products, similarity
from viz.figures.theme import sides
from viz.paper.notebook import Computation

WIDEST = 1024  # The maximum number of dimensions.
USUAL = 64  # The default dimension if the model has no table.
READABLE = 8  # The default dimension of the shift matrix, small enough for readable numbers.
FORMULAS = (
    r"PE_{(pos,2i)}=\sin(pos/10000^{2i/d})",
    r"PE_{(pos,2i+1)}=\cos(pos/10000^{2i/d})",
    r"PE_{pos+k}=M_k\,PE_{pos}",
)
PRODUCTS = "found = by_distance(vectors)\nnumbers = [found.lowest, found.highest, found.mean]"
SHOWN = 0.99  # The quantile of the numbers at the end of the colour scale; outliers are far larger.


def size_of(options: PositionsOptions, fits: int) -> int:
    """Return the dimension of the sinusoidal vectors, an even number: the visitor's choice, or ``fits`` by default.

    >>> size_of(PositionsOptions(), 384), size_of(PositionsOptions(size=7), 384)
    (384, 6)
    """
    size = min(max(2, options.size or fits), WIDEST)
    return size - size % 2


def pick_sizes(options: PositionsOptions, fits: int, columns: Sequence[Any]) -> tuple[int, int]:
    """Draw the widgets for the number of positions and the dimension, by default ``fits``, and return both numbers."""
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


def vectors(held: Positions, question: PositionsRequest, options: PositionsOptions) -> None:
    """Draw the sinusoidal vectors of arXiv:1706.03762 next to those of the model, in the same figures.

    ``question`` is the request whose answer is ``held``.
    """
    table = held.tables[0] if held.tables else None
    length, size = pick_sizes(options, USUAL if table is None else table.vectors.shape[1], st.columns(2))
    sines = sinusoidal(length, size)
    paper = Computation(f"vectors = sinusoidal({length}, {size})", sinusoidal=sinusoidal)
    left, right = st.columns(2)
    with left:
        show_notice(_("{name}: {text}", name=_("sinusoidal"), text=_facts(sines)), role="status")
    if table is None:
        with right:
            show_notice(
                _(
                    "{model} adds no position vectors; see “Scores by distance”.",
                    model=held.model,
                ),
                role="status",
            )
        _sheet(sines, _("sinusoidal"), 1.0, "sines", paper)
        pairs = [("sinusoidal", _("sinusoidal"), sines, paper)]
    else:
        own = table.vectors[:length].astype(np.float64)
        kind = _("sinusoidal") if table.layout else _("learned")
        with right:
            about = _("{name}: {text}", name=f"{held.model} ({kind})", text=_facts(own))
            show_notice(join_sentences(about, _agreement(table)), role="status")
        left, right = st.columns(2)
        with left:
            _sheet(sines, _("sinusoidal"), 1.0, "sines", paper)
        code = f"vectors = backend.inspect(request).tables[0].vectors[:{length}].astype(np.float64)"
        computation = Computation(code, request=question)
        with right:
            limit = 1.0 if table.layout else float(np.quantile(np.abs(own), SHOWN)) or 1.0
            _sheet(own, f"{table.path}, {kind}", limit, "own_table", computation)
        pairs = [
            ("sinusoidal", _("sinusoidal"), sines, paper),
            ("own", _("The model's own"), own, computation),
        ]
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


def _sheet(values: Numbers, name: str, limit: float, key: str, computation: Computation) -> None:
    beyond = float((np.abs(values) > limit).mean())
    note = _(
        "{positions} positions × {dimensions} dimensions; {beyond:.1%} exceed the colour scale",
        positions=len(values),
        dimensions=values.shape[1],
        beyond=beyond,
    )
    sheets = [MatrixSpec(name, values, note=note, limit=limit)]
    about = tuple(provenance_of(computation)().items())
    draw_matrices(sheets, key, about=about, computation=computation.then("numbers = vectors"))


def _figures(options: PositionsOptions, pairs: Sequence[tuple[str, str, Numbers, Computation]]) -> None:
    narrowest = min(values.shape[1] for *_names, values, _computation in pairs)
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
    for column, (key, name, values, computation) in zip(st.columns(2), pairs, strict=False):
        with column:
            titles = (_("Dimensions plotted"), _("Dot product"), _("Cosine with the next position"))
            curve, product, neighbour = (_("{name}: {text}", name=name, text=text) for text in titles)
            about = provenance_of(computation)
            numbers = computation.then(f"numbers = vectors[:, {chosen}].T")
            draw_chart(curves(values, chosen, theme(), curve), f"curves_{key}", about=about, computation=numbers)
            numbers = computation.then(PRODUCTS, by_distance=by_distance)
            draw_chart(
                products(by_distance(values), theme(), product),
                f"products_{key}",
                about=about,
                computation=numbers,
            )
            st.caption(_("At distance 0 the band may leave the plot."))
            numbers = computation.then("numbers = neighbours(vectors)", neighbours=neighbours)
            draw_chart(
                similarity(neighbours(values), theme(), neighbour),
                f"neighbours_{key}",
                about=about,
                computation=numbers,
            )


def dimensions_of(stated: str, count: int) -> list[int]:
    """Return the dimensions to draw as curves: the valid numbers in ``stated``, such as "0-1-20".

    Valid numbers are below ``count``; at most eight are returned. The default is two dimensions of high and two of low
    frequency.

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
    steps = np.linalg.norm(np.diff(values, axis=0), axis=1)
    return _(
        "largest number {largest}; closest of {rows} rows: {pair}, {gap} apart; "
        "neighbours' cosines {least:.2f} to {most:.2f}.",
        largest=format_small(float(np.abs(values).max())),
        rows=len(values),
        pair=_("all neighbours")
        if np.ptp(steps) < 1e-3 * gap
        else _("{first} and {second}", first=first, second=second),
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
    computation = Computation(f"numbers = shift_matrix({shift}, {size})", shift_matrix=shift_matrix)
    sheets = [MatrixSpec(f"M, k = {shift}", matrix, names, names, note, limit=1.0)]
    draw_matrices(sheets, "shift_matrix", about=(), computation=computation)
    st.caption(
        _(
            "Each 2 × 2 block rotates a sine–cosine pair by k times its frequency. M depends on k "
            "only, so attending by relative position may be easy to learn."
        )
    )
