"""A heat map of a stage's numbers; results over the vocabulary show the likeliest tokens by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from attention.stages.terms import Array, array_index, flat
from i18n import _
from inference.tasks.whole_pass import Stage
from ui.pages.whole_pass.ending import end_row
from ui.pages.whole_pass.inspector import PassInspector
from ui.pages.whole_pass.names import title
from ui.pages.whole_pass.options import WholePassOptions
from ui.show.microscope import draw_matrices
from ui.show.tables import draw_table
from ui.show.text import join_sentences
from ui.state.params import set_params
from viz.components.matrices import matrices
from viz.components.matrices.matrices import MatrixSpec

KEY = "whole_pass_stage"
WIDEST, TALLEST = 256, 64  # largest numbers of columns and rows in the heat map
LIKELIEST, NAMED = 12, 3  # vocabulary tokens in the heat map, and for each row of the table


@dataclass(frozen=True, eq=False)
class StageValues:
    """A stage's numbers and the chosen number.

    ``place`` is the index of the chosen number in the result, ``name`` its vocabulary token or class.
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
    """Return the numbers of a stage and the chosen number, by default the largest in the output's row."""
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
    """Draw the numbers as a heat map with a row for each token; a click chooses a number."""
    values, row, column = found.values, found.row, found.column
    tokens = asked.tokens(stage.side)
    shown_rows = _window(len(values), TALLEST, row)
    if found.pieces:
        best = np.argsort(-values[row])[:LIKELIEST]
        columns = best if column in best else np.append(best, column)
        names = tuple(found.pieces.get(int(one), str(one)) for one in columns)
    else:
        columns, names = _window(values.shape[1], WIDEST, column), ()
    labels = tuple(f"{at} {tokens[at]}"[:14] if len(tokens) == len(values) else str(at) for at in shown_rows.tolist())
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
    draw_matrices([sheet], KEY, on_pick=partial(_number, shown_rows, columns))
    if found.pieces and len(values) > 1:
        draw_table(likeliest_table(found, tokens, shown_rows), key="pass_likeliest")


def likeliest_table(found: StageValues, tokens: tuple[str, ...], rows: Array) -> pd.DataFrame:
    """Return a table of the largest numbers in each of ``rows``, named by token or class."""
    best = np.argsort(-found.values[rows], axis=1)[:, :NAMED]
    columns: dict[str, list[str]] = {_("token"): [f"{at} {tokens[at]}" for at in rows.tolist()]}
    for rank, name in enumerate((_("largest"), _("second"), _("third"))[: best.shape[1]]):
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
    size = _("{shape} numbers, one row per token.", shape=" × ".join(map(str, found.shape)))
    return join_sentences(size, drawn, _("Click one to open it."))


def _window(count: int, most: int, must: int) -> Array:
    start = min(max(0, must - most // 2), max(0, count - most))
    return np.arange(start, min(count, start + most))
