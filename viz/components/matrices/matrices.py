"""Matrices as coloured cells with numbers: payload and mount, drawn by matrices.js."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import streamlit as st

from attention.codec import frame
from attention.mask import FloatArray
from viz.components.script import script, stylesheet, words_field

Palette = Literal["diverging", "sequential"]  # "sequential" is for weights from 0


@dataclass(frozen=True)
class MatrixSpec:
    """A matrix with its labels and view options."""

    name: str  # "Q = X·W_Q + b"
    values: FloatArray | npt.NDArray[np.float64]  # (row, column)
    rows: tuple[str, ...] = ()  # labels
    columns: tuple[str, ...] = ()
    note: str = ""  # a line under the matrix: shape, meaning, range
    palette: Palette = "diverging"
    limit: float | None = None  # end of the colour scale; None for the largest absolute value
    marked_rows: tuple[int, ...] = ()
    marked_columns: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError if the values have not two axes, or if the labels do not match them."""
        if np.ndim(self.values) != 2:
            raise ValueError(f"{self.name} has {np.ndim(self.values)} axes; a matrix has rows and columns.")
        for name, labels, count in zip(("rows", "columns"), (self.rows, self.columns), self.values.shape, strict=True):
            if labels and len(labels) != count:
                raise ValueError(f"{self.name} has {count} {name} but {len(labels)} labels.")


About = Sequence[tuple[str, str]]  # names and values of a caption, such as the model and the text


def payload(sheets: Sequence[MatrixSpec], picks: bool, numbers: bool | None, about: About = ()) -> bytes:
    """Return the data that matrices.js draws as a frame, with the fields of its typedef MatricesData.

    ``about`` is written into every file that the user saves.
    """
    described = [
        {
            "name": sheet.name,
            "rows": list(sheet.rows),
            "columns": list(sheet.columns),
            "note": sheet.note,
            "palette": sheet.palette,
            "limit": sheet.limit,
            "markedRows": list(sheet.marked_rows),
            "markedColumns": list(sheet.marked_columns),
        }
        for sheet in sheets
    ]
    arrays = {str(index): (np.asarray(sheet.values, np.float32), "float32") for index, sheet in enumerate(sheets)}
    header = {"sheets": described, "picks": picks, "numbers": numbers, "about": [list(pair) for pair in about]}
    header |= words_field("matrices/matrices")
    return frame(header, arrays)


def mount(
    sheets: Sequence[MatrixSpec],
    key: str,
    *,
    on_pick: Callable[[], None] | None = None,
    numbers: bool | None = None,
    about: About = (),
) -> None:
    """Draw the matrices; ``on_pick`` runs if a cell is picked, and ``picked_cell(key)`` returns it.

    ``about`` has the same meaning as in ``payload``.
    """
    data = payload(sheets, on_pick is not None, numbers, about)
    _COMPONENT(data=data, key=key, on_picked_change=on_pick or _nothing)


def picked_cell(key: str) -> tuple[int, int, int] | None:
    """Return (sheet, row, column) of the picked cell, or None; valid inside ``on_pick``."""
    place = st.session_state.get(key, {}).get("picked")
    if not isinstance(place, list) or [type(number) for number in place] != [int] * 3 or min(place) < 0:
        return None
    sheet, row, column = place
    return sheet, row, column


def _nothing() -> None:
    return None


_COMPONENT = st.components.v2.component(
    "headlight_matrices",
    html='<div id="matrices"></div>',
    js=script("matrices/matrices"),
    css=stylesheet("shared/look", "matrices/matrices"),
)
