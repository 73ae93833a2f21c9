"""Tests of the matrices' payload.

The script sheet.test.mjs and tests/browser/test_components.py test the drawing.
"""

import numpy as np
import numpy.typing as npt
import pytest
import streamlit as st

from attention.codec import decode_frame
from viz.components.matrices import matrices
from viz.components.matrices.matrices import MatrixSpec, payload

VALUES = np.array([[0.1, -2, -np.inf], [np.nan, 0, 1 / 3]])  # Shape (row, column).


def test_the_numbers_arrive_as_they_are_in_float32() -> None:
    sheets = [
        MatrixSpec("A", VALUES, ("<b>", "b"), note="2 × 3"),
        MatrixSpec("B", VALUES.T, palette="sequential", limit=1.0),
    ]
    header, arrays = decode_frame(payload(sheets, True, None))
    np.testing.assert_array_equal(arrays["0"], VALUES.astype(np.float32))
    np.testing.assert_array_equal(arrays["1"], VALUES.T.astype(np.float32))
    assert (header["picks"], header["numbers"]) == (True, None)
    first, second = header["sheets"]
    assert (first["rows"], first["columns"], first["note"], first["limit"]) == (["<b>", "b"], [], "2 × 3", None)
    assert (second["name"], second["palette"], second["limit"]) == ("B", "sequential", 1.0)


def test_equal_sheets_make_equal_bytes() -> None:
    """Unchanged matrices produce an identical payload, which is not sent again."""
    assert payload([MatrixSpec("A", VALUES)], False, None) == payload([MatrixSpec("A", VALUES.copy())], False, None)


@pytest.mark.parametrize(
    ("values", "rows", "columns", "said"),
    [
        (np.zeros(3), (), (), "a matrix has rows and columns"),
        (VALUES, ("a",), (), "2 rows but 1 labels"),
        (VALUES, (), ("a", "b"), "3 columns but 2 labels"),
    ],
)
def test_a_sheet_that_does_not_fit_is_refused(
    values: npt.NDArray[np.floating], rows: tuple[str, ...], columns: tuple[str, ...], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        MatrixSpec("A", values, rows, columns)


@pytest.mark.parametrize(
    ("state", "place"),
    [({"picked": [1, 0, 2]}, (1, 0, 2)), ({"picked": None}, None), ({}, None), ({"picked": [1, 0]}, None)]
    + [({"picked": sent}, None) for sent in ("abc", [1, -1, 0], [1, "0", 2], 5)],
)
def test_which_cell_was_picked(
    monkeypatch: pytest.MonkeyPatch, state: dict[str, object], place: tuple[int, int, int] | None
) -> None:
    monkeypatch.setattr(st, "session_state", {"sheets": state})
    assert matrices.picked_cell("sheets") == place
