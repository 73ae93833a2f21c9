"""A step of the small example: a matrix and the formula of each of its cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from attention.toy_example import Numbers
from i18n import _
from ui.pages.by_hand.figures import dot, figure
from viz.components.matrices.matrices import MatrixSpec

_CELL = re.compile(r"([a-z0-9]{1,12})-([0-9])-([0-9])")


@dataclass(frozen=True, eq=False)
class MatrixStep:
    """A matrix with the formula of its cells.

    ``how`` writes out the calculation of the cell (row, column) without its result; "" for an input.
    """

    key: str  # name of the step in the address
    sheet: MatrixSpec
    how: Callable[[int, int], str]


def product(left: Numbers, right: Numbers) -> Callable[[int, int], str]:
    """Return the formula of the cells of ``left`` · ``right``."""
    return lambda row, column: dot(left[row], right[:, column])


def no_formula(_row: int, _column: int) -> str:
    """Return "", since inputs are typed and not computed."""
    return ""


def cell_of(name: str, steps: Sequence[MatrixStep]) -> tuple[int, int, int] | None:
    """Parse a cell name of the address into (step, row, column); None if these steps have no such cell."""
    place = _CELL.fullmatch(name)
    keys = [step.key for step in steps]
    if place is None or place[1] not in keys:
        return None
    at, row, column = keys.index(place[1]), int(place[2]), int(place[3])
    tall, wide = steps[at].sheet.values.shape
    return (at, row, column) if row < tall and column < wide else None


def sum_of(step: MatrixStep, row: int, column: int) -> str:
    """Write out a cell: its place, its formula and its value."""
    sheet, value = step.sheet, figure(float(step.sheet.values[row, column]))
    names = {"matrix": sheet.name, "row": sheet.rows[row] if sheet.rows else str(row + 1)}
    if sheet.columns and sheet.columns[column]:
        place = _("{matrix}, “{row}” and “{column}”", column=sheet.columns[column], **names)
    else:
        place = _("{matrix}, “{row}”", **names)
    how = step.how(row, column)
    if not how:
        return _("{place}: {value}, as typed.", place=place, value=value)
    return _("{place}: {sum} = {value}.", place=place, sum=how, value=value)


def open_cell(steps: Sequence[MatrixStep], place: tuple[int, int, int] | None) -> list[MatrixSpec]:
    """Return the matrices, with the row and column of the opened cell marked."""
    sheets = [step.sheet for step in steps]
    if place is not None:
        at, row, column = place
        sheets[at] = replace(sheets[at], marked_rows=(row,), marked_columns=(column,))
    return sheets
