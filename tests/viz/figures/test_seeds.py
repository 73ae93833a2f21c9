"""Tests of the figure of seeds: thin lines for seeds, a thick mean, no zeros on a logarithmic axis."""

from __future__ import annotations

import numpy as np
import pytest

from viz.figures.theme import DARK, LIGHT, Theme
from viz.figures.training import Curve, seeds

CURVES = [
    Curve("LSTM", [4, 8, 16], np.array([[1.0, 0.8, 0.0], [0.5, 0.2, 0.4]])),
    Curve("<i>", [4, 8], np.array([[0.25, 0.0]])),
]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_each_curve_has_a_look_of_its_own_and_its_seeds_share_it(theme: Theme) -> None:
    figure = seeds(CURVES, theme, "<b>", "x", "y", trained=8, chance=0.5)
    assert [trace.line.width for trace in figure.data] == [1, 1, 3, 3]
    first, second, mean, other = figure.data
    assert first.line.color == second.line.color == mean.line.color != other.line.color
    assert mean.line.dash != other.line.dash
    assert mean.marker.symbol != other.marker.symbol
    assert mean.y == pytest.approx([0.75, 0.5, 0.2])
    assert other.name == "&lt;i&gt;"
    assert figure.layout.title.text == "&lt;b&gt;"
    assert {shape.name for shape in figure.layout.shapes} == {"trained on up to 8", "guessing: 0.500"}


def test_what_is_nothing_is_left_out_of_a_logarithm_alone() -> None:
    plain, logarithmic = (seeds(CURVES, LIGHT, "t", "x", "y", logarithmic=axes) for axes in ("", "xy"))
    assert plain.data[-1].y[1] == 0
    assert np.isnan(logarithmic.data[-1].y[1])
    assert np.isnan(logarithmic.data[2].y[2])
    assert list(logarithmic.layout.xaxis.ticktext) == ["4", "8", "16"]
    assert logarithmic.layout.yaxis.type == "log"
