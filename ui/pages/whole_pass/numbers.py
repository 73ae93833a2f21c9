"""Numbers of a forward pass: its output, the result of a stage as a heat map, and a number as a sum of terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from attention.stages.terms import Array, array_index, flat, row_and_column
from i18n import _, typeset_number
from inference import UserError
from inference.files.embedded import BERT
from inference.tasks.whole_pass import PROBABILITIES, Opened, Origin, Stage
from ui.pages.whole_pass.inspector import PassInspector, WholePassOptions
from ui.pages.whole_pass.names import describe_origin, format_terms, stage_name, title
from ui.run.notices import show_error, show_notice
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_matrices
from ui.show.tables import csv_table, download_button, draw_table
from ui.show.text import format_comma_list, join_sentences
from ui.show.views import link_to_view
from ui.state.params import set_params
from ui.state.view_state import ViewState, to_query
from viz.components.matrices import matrices
from viz.components.matrices.matrices import MatrixSpec
from viz.export import format_value
from viz.figures.token_bars import bars
from viz.paper.notebook import Computation

BLANKS = ("[MASK]", "<mask>")
GUESSED = "Paris is the [MASK] of France."
TOP = 6
CUT = """\
values = flat(backend.inspect(request).by_stage[stage])
cut = values[np.ix_(rows, columns)]
numbers = np.where(np.abs(cut) < 1e30, cut, 0)"""
LEAST = 0.0005  # smallest probability in a sentence; smaller values round to 0.000
Likely = Sequence[tuple[str, float]]


def end_row(asked: PassInspector, side: str, row: int | None = None) -> int:
    """Return the index of the row of the model's output that the page describes.

    In a decoder, it is the last token. Otherwise it is the first blank (mask token), else ``row``, by default row 1.
    ``side`` is "encoder" or "decoder".
    """
    tokens = asked.tokens(side)
    if side == "decoder":
        return len(tokens) - 1
    blank = next((at for at, token in enumerate(tokens) if token in BLANKS), None)
    return min((1 if row is None else row) if blank is None else blank, len(tokens) - 1)


def likely_end(asked: PassInspector, options: WholePassOptions) -> tuple[int, Likely]:
    """Return the described row of the output, and its likeliest tokens or classes.

    These are at most TOP pairs (name, probability); there are none if the pass does not end in probabilities.
    """
    last = asked.result.stages[-1]
    at = end_row(asked, last.side, options.row)
    if last.part != PROBABILITIES:
        return at, ()
    array, names = asked.numbers(last)
    rows = flat(array)
    mine = rows[min(at, len(rows) - 1)]
    best = np.argsort(-mine, kind="stable")[:TOP].tolist()
    return at, [(names.get(one, _("number {number}", number=one)), float(mine[one])) for one in best]


def describe_end(asked: PassInspector, at: int, found: Likely) -> str:
    """Return a sentence with up to three of the likeliest tokens or classes at row ``at`` of the output."""
    likely = [f"“{name}” {chance:.3f}" for name, chance in found if chance >= LEAST or chance == found[0][1]]
    return _("{of_what}: {names}.", of_what=output_title(asked, at), names=format_comma_list(likely[:3]))


def of_rows(asked: PassInspector) -> bool:
    """Return True if the model's output has a row for each token, False if it is a single row."""
    return len(asked.result.spread[asked.result.stages[-1].number]) > 1


def output_title(asked: PassInspector, at: int) -> str:
    """Return the name of the described output, with its token if every token has an output."""
    if not of_rows(asked):
        return _("Output")
    return _("Output at token {at} “{token}”", at=at, token=asked.tokens(asked.result.stages[-1].side)[at])


def draw_end(asked: PassInspector, choice: ViewState, at: int, found: Likely) -> None:
    """Draw a sentence on the model's output, or its shape and a link to an example if it has no probabilities."""
    if found:
        show_notice(describe_end(asked, at, found), role="status")
        return
    last = asked.result.stages[-1]
    show_notice(
        _(
            "{shape} numbers, not probabilities: no task head.",
            shape=" × ".join(map(str, last.shape)),
        ),
        role="status",
    )
    if choice.model != BERT:
        link_to_view(
            "whole_pass",
            _("Try {model}: “{text}”", model=BERT, text=GUESSED).replace("[", "\\["),
            icon=":material/psychology_alt:",
            query=to_query(ViewState(model=BERT, text=GUESSED)),
        )


def picture(asked: PassInspector, at: int, found: Likely) -> None:
    """Draw the likeliest tokens or classes of the output as bars, if there are any."""
    if found:
        names, chances = zip(*found, strict=True)
        last = asked.result.stages[-1]
        code = f"rows = flat(backend.inspect(request).by_stage[{last.number}])\n"
        code += f"numbers = np.sort(rows[min({at}, len(rows) - 1)])[::-1][:{TOP}]"
        computation = Computation(code, request=asked.stage_request(last), flat=flat)
        about = partial(asked.provenance, stage=stage_name(last), output_row=at, outputs=f"the {len(found)} largest")
        draw_chart(
            bars(names, chances, theme(), output_title(asked, at)), "pass_end", about=about, computation=computation
        )


KEY = "whole_pass_stage"
WIDEST, TALLEST = 256, 64  # largest numbers of columns and rows in the heat map
LIKELIEST, NAMED = 12, 3  # vocabulary tokens in the heat map, and for each row of the table


@dataclass(frozen=True, eq=False)
class StageValues:
    """The numbers in a stage's result, and the number that the reader selected.

    ``place`` is the index of this number, and ``name`` the vocabulary token or class of its column, if any.
    """

    shape: tuple[int, ...]
    values: Array  # shape (row, column): the result flattened to two axes
    row: int
    column: int
    place: tuple[int, ...]
    pieces: dict[int, str]

    @property
    def name(self) -> str:
        return self.pieces.get(self.column, "")


def find(asked: PassInspector, stage: Stage, options: WholePassOptions) -> StageValues:
    """Return the numbers of a stage, with the number that the reader selected.

    The default is the largest number in the row of the output that the page describes (``end_row``).
    """
    array, pieces = asked.numbers(stage)
    values = flat(array)
    named = pieces if values.shape[1] == array.shape[-1] else {}
    row = min(max(0, end_row(asked, stage.side) if options.row is None else options.row), len(values) - 1)
    largest = int(np.abs(np.where(np.abs(values[row]) < 1e30, values[row], 0)).argmax())
    if named:
        largest = int(values[row].argmax())
    column = min(max(0, largest if options.column is None else options.column), values.shape[1] - 1)
    return StageValues(array.shape, values, row, column, array_index(array.shape, row, column), named)


def draw(asked: PassInspector, stage: Stage, found: StageValues) -> None:
    """Draw the numbers as a heat map with a row for each token; a click selects a number."""
    values, row, column = found.values, found.row, found.column
    tokens = asked.tokens(stage.side)
    shown_rows = _window(len(values), TALLEST, row)
    if found.pieces:
        best = np.argsort(-values[row])[:LIKELIEST]
        columns = best if column in best else np.append(best, column)
        names = tuple(found.pieces.get(int(one), str(one)) for one in columns)
    else:
        columns, names = _window(values.shape[1], WIDEST, column), ()
    labels = tuple(row_label(tokens, len(values), at)[:14] for at in shown_rows.tolist())
    cut = values[np.ix_(shown_rows, columns)]
    sheet = MatrixSpec(
        title(stage),
        np.where(np.abs(cut) < 1e30, cut, 0),
        labels,
        names or tuple(map(str, columns.tolist())),
        _note(found, shown_rows, columns),
        palette="sequential" if stage.formula == "softmax" else "diverging",
        marked_rows=(int(np.flatnonzero(shown_rows == row)[0]),),
        marked_columns=(int(np.flatnonzero(columns == column)[0]),),
    )
    request = asked.stage_request(stage)
    known = {"stage": stage.number, "rows": shown_rows, "columns": columns}
    computation = Computation(CUT, request=request, flat=flat, **known)
    shown = {"rows": _describe_range(shown_rows, len(values)), "columns": _describe_range(columns, values.shape[1])}
    if found.pieces:
        also = f" and column {column}" if len(columns) > LIKELIEST else ""
        shown["columns"] = f"the {min(LIKELIEST, len(columns))} largest of row {row}{also}, of {values.shape[1]}"
    about = tuple((name, format_value(value)) for name, value in stage_provenance(asked, stage, **shown).items())
    on_pick = partial(_number, shown_rows, columns)
    draw_matrices([sheet], KEY, on_pick=on_pick, about=about, computation=computation)
    if found.pieces and len(values) > 1:
        draw_table(likeliest_table(found, tokens, shown_rows), key="pass_likeliest")


def stage_provenance(asked: PassInspector, stage: Stage, **settings: Any) -> dict[str, Any]:
    """Return the provenance of numbers of a stage: the pass, the stage, its module in the model and ``settings``."""
    module = {"module": stage.path} if stage.path else {}
    shape = " × ".join(map(str, stage.shape))
    return asked.provenance(stage=stage_name(stage), **module, shape=shape, **settings)


def _describe_range(places: Array, count: int) -> str:
    """Return the first and the last of consecutive rows or columns, and the number of all.

    >>> _describe_range(np.arange(2, 5), 9)
    '2 to 4 of 9'
    """
    return f"{places[0]} to {places[-1]} of {count}"


def row_label(tokens: Sequence[str], rows: int, at: int) -> str:
    """Return the label of a row: its index, and its token if every token has a row.

    >>> row_label(("the", "cat"), 2, 1), row_label(("the", "cat"), 12, 1)
    ('1 cat', '1')
    """
    return f"{at} {tokens[at]}" if len(tokens) == rows else str(at)


def likeliest_table(found: StageValues, tokens: tuple[str, ...], rows: Array) -> pd.DataFrame:
    """Return a table of the largest numbers in each of ``rows``, named by token or class."""
    best = np.argsort(-found.values[rows], axis=1)[:, :NAMED]
    columns: dict[str, list[str]] = {_("Token"): [f"{at} {tokens[at]}" for at in rows.tolist()]}
    for rank, name in enumerate("123"[: best.shape[1]]):
        columns[name] = [
            f"{found.pieces.get(int(one), str(one))} {found.values[at, one]:.3f}"
            for at, one in zip(rows.tolist(), best[:, rank], strict=True)
        ]
    return pd.DataFrame(columns)


def _number(rows: Any, columns: Any) -> None:
    found = matrices.picked_cell(KEY)
    if found is not None and found[1] < len(rows) and found[2] < len(columns):
        set_params(WholePassOptions, row=int(rows[found[1]]), column=int(columns[found[2]]))


def _note(found: StageValues, rows: Array, columns: Array) -> str:
    drawn = _("Shown: {rows} rows × {columns} columns.", rows=len(rows), columns=len(columns))
    if found.pieces:
        drawn = _("Shown: the {columns} largest of the marked token.", columns=len(columns))
    elif (len(rows), len(columns)) == found.values.shape:
        drawn = ""
    size = _("{shape} numbers; click one to open it.", shape=" × ".join(map(str, found.shape)))
    return join_sentences(size, drawn)


def _window(count: int, most: int, must: int) -> Array:
    start = min(max(0, must - most // 2), max(0, count - most))
    return np.arange(start, min(count, start + most))


def number(asked: PassInspector, stage: Stage, found: StageValues) -> None:
    """Draw the terms whose sum is the selected number of a stage's result."""
    try:
        with st.spinner(_("Running the model")):
            opened = asked.open_number(stage, found.place)
    except UserError as refusal:
        show_error(refusal)
        return
    row = row_label(asked.tokens(stage.side), len(found.values), found.row)
    column = f"{found.column} “{found.name}”" if found.name else str(found.column)
    said = _("Row {row}, column {column}: {sum}", row=row, column=column, sum=format_terms(opened))
    show_notice(said, role="status")
    draw_table(table(asked, stage, opened, typeset_number), key="pass_terms")
    terms = table(asked, stage, opened)
    rows = ((float(term), *origins) for term, *origins in terms.itertuples(index=False))
    page = csv_table([str(name) for name in terms], rows)
    about = stage_provenance(asked, stage, row=found.row, column=found.column)
    download_button(_("Save as CSV"), page, "terms.csv", _("All digits"), provenance=about)
    _draw_origin_picker(asked, opened)


def table(asked: PassInspector, stage: Stage, opened: Opened, typeset: Callable[[str], str] = str) -> pd.DataFrame:
    """Return the largest terms of a number as a table, with the value and the source of each factor.

    ``typeset`` changes formatted numbers for the screen.
    """
    by_number = {one.number: one for one in asked.result.stages}

    def at_its_place(origin: Origin) -> str:
        tokens = asked.tokens(by_number[origin.stage].side if origin.stage is not None else stage.side)
        return f"{typeset(f'{origin.value:.6g}')}: {describe_origin(origin, by_number, asked.two, tokens)}"

    rows = [(typeset(f"{term.value:.6g}"), *(at_its_place(one) for one in term.origins)) for term in opened.terms]
    width = max(map(len, rows), default=1)
    columns = [_("Term"), *(_("Factor {at}", at=at) for at in range(1, width))]
    padded = [(*row, *[""] * (width - len(row))) for row in rows]
    if opened.left:
        padded.append(
            (typeset(f"{opened.rest:.6g}"), _("the {left} other terms", left=opened.left), *[""] * (width - 2))
        )
    return pd.DataFrame(padded, columns=columns)


def _draw_origin_picker(asked: PassInspector, opened: Opened) -> None:
    """Draw a control that opens a factor computed by another stage."""
    by_number = {one.number: one for one in asked.result.stages}
    origins = [one for term in opened.terms for one in term.origins if one.stage is not None]
    if not origins:
        return

    def option(at: int) -> str:
        one = origins[at]
        assert one.stage is not None
        tokens = asked.tokens(by_number[one.stage].side)
        return f"{typeset_number(f'{one.value:.4g}')}: {describe_origin(one, by_number, asked.two, tokens)}"

    st.session_state["pass_into"] = None
    st.selectbox(
        _("Open a factor"),
        range(len(origins)),
        index=None,
        key="pass_into",
        placeholder=_("Nothing picked"),
        format_func=option,
        on_change=lambda: _open_origin(asked, origins),
        help=_("Shows it as a sum; the browser's Back returns here"),
    )


def _open_origin(asked: PassInspector, origins: Sequence[Origin]) -> None:
    if (picked := st.session_state["pass_into"]) is None:
        return
    origin = origins[picked]
    at = next(index for index, one in enumerate(asked.result.stages) if one.number == origin.stage)
    row, column = row_and_column(asked.result.stages[at].shape, origin.place)
    set_params(WholePassOptions, stage=at, row=row, column=column, zoom="stage")
