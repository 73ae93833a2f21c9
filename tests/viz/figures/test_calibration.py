"""Tests of the calibration figure: bars of accuracy and marks of confidence."""

from __future__ import annotations

from viz.figures.evaluation import FEW, Bin, calibration
from viz.figures.theme import DARK

BINS = [Bin(0.3, 0.4, FEW - 1, 0.35, 0.5, 0.2, 0.8), Bin(0.9, 1.0, 1200, 0.97, 0.9, 0.88, 0.92)]


def test_the_surest_stand_on_top_each_with_its_interval_and_mark() -> None:
    bars, marks = calibration(BINS, DARK, "Title").data
    assert (list(bars.x), list(marks.x), list(bars.y)) == ([0.9, 0.5], [0.97, 0.35], [0, 1])
    assert [round(end, 2) for end in bars.error_x.array] == [0.02, 0.3]
    assert [round(end, 2) for end in bars.error_x.arrayminus] == [0.02, 0.3]


def test_few_answers_are_pale_and_every_bar_says_how_many_it_has() -> None:
    figure = calibration(BINS, DARK, "Title")
    whole, pale = figure.data[0].marker.opacity
    assert pale < whole == 1
    assert figure.layout.yaxis.ticktext == ("0.9 to 1 · 1,200", "0.3 to 0.4 · 9")
