"""Tests of the drift figures: positions of layers and steps, and intervals as passed in."""

import numpy as np

from viz.figures.theme import LIGHT
from viz.figures.training import DriftLine, by_layer, by_step

LINE = DriftLine("<b>task</b>", np.array([0.1, 0.3]), np.array([0.05, np.nan]), np.array([0.2, np.nan]))


def test_a_layer_has_a_mark_for_each_training_with_its_interval() -> None:
    figure = by_layer([LINE, LINE, LINE], LIGHT, "By layer")
    task, *twins = figure.data
    assert list(task.customdata) == [0, 1]
    assert task.name == "&lt;b&gt;task&lt;/b&gt;"
    np.testing.assert_allclose(task.error_y.array, [0.1, 0])
    np.testing.assert_allclose(task.error_y.arrayminus, [0.05, 0])
    assert len({trace.x[0] for trace in figure.data}) == 3, "side by side"
    assert len({(trace.marker.symbol, trace.line.dash) for trace in figure.data}) == 3, "told apart without colours"
    assert {trace.marker.color for trace in twins} == {LIGHT.heads}


def test_the_step_that_is_shown_is_marked_on_both_lines() -> None:
    whole, head = np.array([0.0, 0.2, 0.3]), np.array([0.0, 0.5, 0.4])
    figure = by_step([0, 25, 50], whole, ("<i>", head), LIGHT, "By step", frame=1, kept=50)
    mean, one, shown = figure.data
    assert list(mean.x) == list(one.x) == [0, 25, 50]
    assert one.name == "&lt;i&gt;"
    assert (list(shown.x), list(shown.y)) == ([25, 25], [0.2, 0.5])
    assert figure.layout.shapes[0].x0 == 50
