"""Tests of bar charts: numbers in the given order, and labels as plain text."""

import pytest

from viz.figures.theme import LIGHT
from viz.figures.token_bars import REST, bars
from viz.paper.chart_table import chart_table

LABELS = ("the", "<b>it", "the", "x" * 40)
VALUES = (0.5, 0.2, 0.1, 0.0004)


def test_the_first_is_on_top_and_equal_labels_stay_two_bars() -> None:
    figure = bars(LABELS, VALUES, LIGHT, "Next token")
    (drawn,) = figure.data
    assert list(drawn.x) == list(VALUES)
    assert list(drawn.y) == [0, 1, 2, 3]
    assert figure.layout.yaxis.autorange == "reversed"
    assert list(figure.layout.yaxis.ticktext[:3]) == ["the", "&lt;b&gt;it", "the"]
    assert figure.layout.yaxis.ticktext[3].endswith("…")
    assert figure.layout.xaxis.title.text == "Probability"


def test_a_longer_label_is_whole_if_asked() -> None:
    assert bars(LABELS, VALUES, LIGHT, "", longest=40).layout.yaxis.ticktext[3] == "x" * 40
    long = bars(["one two three", "four"], (2, 1), LIGHT, "", longest=7, lines=2).layout
    assert long.yaxis.ticktext == ("one two<br>three", "four")
    assert long.height > bars(["one", "four"], (2, 1), LIGHT, "", longest=7, lines=2).layout.height


def test_small_numbers_are_not_written_as_nothing() -> None:
    (drawn,) = bars(LABELS, VALUES, LIGHT, "").data
    assert list(drawn.text) == ["0.50", "0.20", "0.10", "0.0004"]


def test_small_numbers_have_two_significant_digits() -> None:
    (drawn,) = bars(LABELS[:3], (0.0087, 0.052, 0.126), LIGHT, "").data
    assert list(drawn.text) == ["0.0087", "0.052", "0.13"]


def test_intervals_are_drawn_and_exported() -> None:
    figure = bars(["3-1", "3-4"], [0.5, 0.25], LIGHT, "", intervals=[(0.375, 0.75), (0.125, 0.5)])
    table = chart_table(figure)
    assert (table["Probability"], table["minus"], table["plus"]) == ([0.5, 0.25], [0.125, 0.125], [0.25, 0.25])
    assert [(note.x, note.text) for note in figure.layout.annotations] == [(0.75, "0.50"), (0.5, "0.25")]
    assert figure.layout.xaxis.range[1] > 0.75


def test_the_rest_comes_last_and_is_pale() -> None:
    (drawn,) = bars(LABELS, VALUES, LIGHT, "", other=0.1996, marked=[1]).data
    assert drawn.x[-1] == 0.1996
    assert drawn.customdata[-1] == REST
    assert list(drawn.marker.color) == [LIGHT.heads, LIGHT.accent, LIGHT.heads, LIGHT.heads, LIGHT.grid]


@pytest.mark.parametrize("values", [(), (0.0, 0.0)])
def test_nothing_to_show_is_no_error(values: tuple[float, ...]) -> None:
    figure = bars(LABELS[: len(values)], values, LIGHT, "")
    assert figure.layout.xaxis.range[1] > 0


def test_numbers_of_answers_are_whole() -> None:
    figure = bars(["yes", "no"], [2, 1], LIGHT, "Answers", "answers")
    assert list(figure.data[0].text) == ["2", "1"]
    assert figure.layout.xaxis.dtick == 1
    assert list(bars(["yes"], [0.5], LIGHT, "Chance").data[0].text) == ["0.50"]
