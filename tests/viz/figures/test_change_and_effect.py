"""Test of the figure of change and effect: a dot for each head with both numbers, clicks pick heads."""

import numpy as np

from viz.figures.head_maps import picked_head
from viz.figures.theme import LIGHT
from viz.figures.training import change_and_effect

CHANGED = np.array([[0.1, np.nan, 0.3], [0.4, 0.5, 0.6]])
EFFECT = np.array([[1.0, 2.0, np.nan], [3.0, 4.0, 5.0]])


def test_each_head_stands_where_its_numbers_are() -> None:
    figure = change_and_effect(CHANGED, EFFECT, LIGHT, "", "", beyond=[(1, 1), (1, 2)], selected=(1, 2))
    groups = {trace.name: [tuple(data[:2]) for data in trace.customdata] for trace in figure.data}
    assert groups == {
        "changed within chance": [(0, 0), (1, 0)],
        "changed beyond chance": [(1, 1)],
        "Selected head": [(1, 2)],
    }
    for trace in figure.data:
        for x, y, data in zip(trace.x, trace.y, trace.customdata, strict=True):
            place = picked_head({"selection": {"points": [{"customdata": data}]}})
            assert place is not None
            assert (x, y) == (CHANGED[place], EFFECT[place])
