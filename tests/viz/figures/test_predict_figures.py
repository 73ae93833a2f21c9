"""Tests of the figures of the prediction pages: numbers in their places, texts as plain text."""

from __future__ import annotations

import numpy as np
import pytest

from tests.viz.figures.test_vectors_figures import cell_texts
from viz.figures.layers import layer_names, lens_curves, lens_map
from viz.figures.theme import DARK, LIGHT, Theme
from viz.figures.token_bars import MOST, importance, two_words


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_lens_map_holds_every_piece_and_its_probability(theme: Theme) -> None:
    chances = np.array([[0.5, 0.2, 0.1], [0.9, 0.05, 0.01]], np.float32)
    figure = lens_map([["<b>", "he", "it"], ["she", "x" * 30, "it"]], chances, theme)
    heat, texts = figure.data[0], cell_texts(figure)
    np.testing.assert_allclose(heat.z, chances, atol=1e-6)
    assert texts[0][0] == "&lt;b&gt;"
    assert texts[1][1] == "x" * 9 + "…"
    assert heat.customdata[1][1] == "x" * 30
    assert (heat.zmin, heat.zmax) == (0, 1)
    assert list(figure.layout.yaxis.ticktext) == ["words", "layer 0"]
    assert list(figure.layout.xaxis.ticktext) == ["likeliest", "#2", "#3"]


def test_the_curves_are_told_apart_by_colour_and_dashes() -> None:
    chances = np.linspace(0, 0.6, 12, dtype=np.float32).reshape(3, 4)
    figure = lens_curves(chances, ["a", "b", "<i>", "d"], LIGHT)
    assert len({(line.line.color, line.line.dash) for line in figure.data}) == 4
    assert figure.data[2].name == "&lt;i&gt;"
    np.testing.assert_allclose(figure.data[3].y, chances[:, 3])
    assert layer_names(1) == ["words"]


def test_importance_has_a_bar_for_each_word_and_way() -> None:
    ways = {"one": np.array([0.5, -0.25], np.float32), "other": np.array([0.0, 1.0], np.float32)}
    figure = importance(["it", "it"], ways, LIGHT, "logarithm")
    assert [bar.name for bar in figure.data] == ["one", "other"]
    assert list(figure.data[0].x) == [0.5, -0.25]
    (up, down), (zero, also_up) = (bar.marker.color for bar in figure.data)
    assert up == also_up != down == zero, "the colour shows the sign"
    assert figure.data[0].marker.pattern.shape != figure.data[1].marker.pattern.shape, "the pattern shows the method"
    assert list(figure.layout.yaxis.ticktext) == ["it", "it"]
    long = importance(["w"] * 100, {"one": np.zeros(100, np.float32)}, LIGHT, "u")
    assert len(long.data[0].x) == MOST


def test_two_words_in_two_sentences() -> None:
    figure = two_words(["s", "t"], ["are", "<b>"], [[0.5, 0.25], [0.1, 0.05]], LIGHT)
    assert [list(bar.x) for bar in figure.data] == [[0.5, 0.1], [0.25, 0.05]]
    assert figure.data[1].name == "&lt;b&gt;"
    assert figure.layout.xaxis.range[1] > 0.5
