"""Matrices as coloured cells with numbers, drawn by matrices.js, on a page or in a standalone HTML file."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import streamlit as st

from attention.codec import frame
from attention.mask import FloatArray
from i18n import _, active_language, translate
from viz.components.script import inline, script, stylesheet, words_field
from viz.components.standalone.standalone import HERE, POLICY, UNSCRIPTED

Palette = Literal["diverging", "sequential"]  # "sequential" is for weights from 0


@dataclass(frozen=True)
class MatrixSpec:
    """A matrix to draw: its values, the names of rows and columns, and the colour scale."""

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
    """Return the data for matrices.js as a binary message, with the fields of its typedef MatricesData.

    If ``picks`` is set, cells can be clicked. ``numbers`` prints the value of each cell; None prints it in small
    matrices only. ``about`` is written into every file that the visitor saves.
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
    """Draw the matrices; call ``on_pick`` if the visitor picks a cell.

    Inside ``on_pick``, ``picked_cell(key)`` returns the cell. ``numbers`` and ``about`` are as in ``payload``.
    """
    data = payload(sheets, on_pick is not None, numbers, about)
    _COMPONENT(data=data, key=key, on_picked_change=on_pick or _nothing)


def picked_cell(key: str) -> tuple[int, int, int] | None:
    """Return (matrix, row, column) of the picked cell, or None; call it inside ``on_pick``."""
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


START = """
const letters = atob(document.getElementById("embedded").textContent);
matrices({
  data: Uint8Array.from(letters, (letter) => letter.charCodeAt(0)),
  parentElement: document.getElementById("matrices"),
  setTriggerValue() {},
});
"""


def matrices_html(
    title: str, sentences: Sequence[str], sheets: Sequence[MatrixSpec], about: Sequence[tuple[str, str]]
) -> str:
    """Return an HTML file that shows the matrices below ``title`` and the paragraphs ``sentences``.

    ``about`` are names and values for the caption. All texts are escaped.

    >>> "&lt;b&gt;" in matrices_html("Maps", ["it gives <b> 0.68"], [], [("text", "a")])
    True
    """
    data = base64.b64encode(payload(sheets, False, None, about)).decode()
    read = "".join(f'<p dir="auto">{html.escape(sentence)}</p>' for sentence in sentences)
    said = "".join(f'<dt>{html.escape(name)}</dt><dd dir="auto">{html.escape(value)}</dd>' for name, value in about)
    drawn, made = translate(UNSCRIPTED), _("Made with Headlight.")
    style = (HERE / "standalone.css").read_text(encoding="utf-8") + stylesheet("shared/look", "matrices/matrices")
    return f"""<!doctype html>
<html lang="{active_language()}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{html.escape(title)}</title>
<style>{style}</style></head>
<body><h1>{html.escape(title)}</h1>{read}
<main id="matrices"><div class="still"><p>{html.escape(drawn)}</p></div></main>
<footer><dl>{said}</dl><p>{html.escape(made)}</p></footer>
<script type="application/octet-stream" id="embedded">{data}</script>
<script type="module">
{inline(script("matrices/matrices") + START)}</script>
</body></html>
"""
