"""Tests of the figures of sampling rules: every mark is a number that was passed in."""

import numpy as np
import pytest

from viz.figures.theme import DARK, LIGHT, Theme
from viz.figures.token_bars import before_after, cumulative

OWN, DRAWN = [0.5, 0.3, 0.1], [0.7, 0.3, 0.0]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_before_and_after_have_the_numbers_and_text_that_is_no_markup(theme: Theme) -> None:
    figure = before_after(["␣a", "<b>x", "␣a"], OWN, DRAWN, theme, "A <i>title</i>", marked=[1])
    bars, marks = figure.data
    assert list(bars.x) == OWN
    assert list(marks.x) == DRAWN
    assert list(bars.y) == list(marks.y) == [0, 1, 2], "the same name twice keeps two rows"
    assert list(figure.layout.yaxis.ticktext) == ["␣a", "<b>&lt;b&gt;x</b>", "␣a"]
    assert figure.layout.title.text == "A &lt;i&gt;title&lt;/i&gt;"
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1], "the likeliest is on top"


def test_sums_run_and_the_cut_is_where_the_rule_has_it() -> None:
    figure = cumulative(OWN, DRAWN, 2, LIGHT, "Sums")
    own, drawn = figure.data[:2]
    np.testing.assert_allclose(own.y, [0.5, 0.8, 0.9])
    np.testing.assert_allclose(drawn.y, [0.7, 1.0, 1.0])
    assert list(own.x) == [1, 2, 3]
    assert [shape.x0 for shape in figure.layout.shapes] == [2]
    assert "2 kept" in [shape.name for shape in figure.layout.shapes]


def test_without_a_rule_only_the_model_is_drawn() -> None:
    (bars,) = before_after(["a", "b", "c"], OWN, [], LIGHT, "Next").data
    assert list(bars.x) == OWN
    figure = cumulative(OWN, [], 4, LIGHT, "Sums")
    (own,) = figure.data
    np.testing.assert_allclose(own.y, [0.5, 0.8, 0.9])
    assert not figure.layout.showlegend


def test_a_cut_beyond_the_figure_is_not_drawn() -> None:
    assert not cumulative(OWN, DRAWN, 4, LIGHT, "Sums").layout.shapes
