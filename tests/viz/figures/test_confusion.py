"""Tests of the confusion matrix figure: cells, colours, and cells that can be picked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.viz.figures.test_vectors_figures import cell_texts
from viz.figures.evaluation import NAMED, SQUARE, confusion
from viz.figures.theme import LIGHT, Figure
from viz.figures.vectors import picked_pair
from viz.paper.chart_table import axis_names, chart_table

COUNTS = np.array([[12345, 5, 0], [1, 0, 3], [0, 0, 0]])
LABELS = ["<b>a</b>", "a name that is much longer than there is room for", "\u202eturned"]


def drawn(**extra: Any) -> Figure:
    return confusion(COUNTS, LABELS, LIGHT, "Title", "rows", **extra)


def of_size(size: int) -> Figure:
    return confusion(np.eye(size, dtype=np.int64), [f"label {at}" for at in range(size)], LIGHT, "Title", "rows")


def test_colours_are_shares_of_the_row_and_nothing_is_blank() -> None:
    figure = drawn()
    heat = figure.data[0]
    np.testing.assert_allclose(
        heat.z, [[12345 / 12350, 5 / 12350, np.nan], [0.25, np.nan, 0.75], [np.nan, np.nan, np.nan]]
    )
    assert cell_texts(figure) == [["12k", "5", ""], ["1", "", "3"], ["", "", ""]]


@pytest.mark.parametrize("size", [2, NAMED + 1])
def test_the_table_has_counts_and_plain_labels_by_axis(size: int) -> None:
    table = chart_table(of_size(size))
    assert list(table) == ["series", "Predicted label", "True label", "count", "share of true label"]
    assert table["Predicted label"][:2] == ["label 0", "label 1"]
    assert table["True label"][:size] == ["label 0"] * size
    assert table["count"][:2] == [1, 0]
    assert table["share of true label"][:2] == [1.0, 0.0]
    assert axis_names(of_size(size)) == ["Predicted label", "True label"]
    named = chart_table(drawn())["True label"]
    assert list(dict.fromkeys(named)) == LABELS


def test_every_cell_that_counts_something_can_be_picked() -> None:
    points = next(trace for trace in drawn().data if trace.type == "scatter")
    assert [list(cell) for cell in points.customdata] == [[0, 0], [0, 1], [1, 0], [1, 2]]
    assert [(y, x) for x, y in zip(points.x, points.y, strict=True)] == [(0, 0), (0, 1), (1, 0), (1, 2)]
    assert picked_pair({"selection": {"points": [{"customdata": points.customdata[3]}]}}) == (1, 2)
    assert "3 of 4 rows" in points.text[3]


def test_what_is_added_up_has_a_hover_but_no_cell_to_pick() -> None:
    whole, rest = (trace for trace in drawn(rest=True).data if trace.type == "scatter")
    assert [list(cell) for cell in whole.customdata] == [[0, 0], [0, 1], [1, 0]]
    assert (list(rest.x), list(rest.y), rest.customdata) == ([2], [1], None)
    assert picked_pair({"selection": {"points": [{"x": 2, "y": 1}]}}) is None


def test_labels_are_text_that_turns_nothing_and_long_ones_keep_both_ends() -> None:
    names = drawn().layout.yaxis.ticktext
    assert "<" not in "".join(names)
    assert names[1] == "\u2068a name t… room for\u2069"
    assert names[2] == "\u2068\u202eturned\u2069"


@pytest.mark.parametrize(
    ("chosen", "box"),
    [((1, 2), (1.5, 2.5, 0.5, 1.5)), ((None, 0), (-0.5, 0.5, -0.5, 2.5)), ((1, None), (-0.5, 2.5, 0.5, 1.5))],
)
def test_the_chosen_cell_row_or_column_is_framed(chosen: tuple[int | None, int | None], box: tuple[float, ...]) -> None:
    shape = drawn(chosen=chosen).layout.shapes[-1]
    assert (shape.x0, shape.x1, shape.y0, shape.y1) == box
    assert not drawn().layout.shapes


def test_many_labels_are_numbered_above_and_not_written_into_cells() -> None:
    few, some, many = (of_size(size) for size in (SQUARE, NAMED, NAMED + 1))
    assert few.layout.yaxis.scaleanchor == "x"
    assert some.layout.yaxis.scaleanchor is None
    assert len(some.layout.xaxis.ticktext) == NAMED
    assert [row[at] for at, row in enumerate(cell_texts(some))] == ["1"] * NAMED
    assert cell_texts(many) == []
    assert many.layout.xaxis.ticktext is None
    assert many.layout.yaxis.ticktext[17].endswith("  17")
