"""The picture of all heads has the map and the name of each head, in the order of layers and heads."""

from __future__ import annotations

import numpy as np

from attention.view import View
from tests.support.traces import sentence_trace
from viz.static.head import LABEL_HEIGHT, color_weights, picture_of_heads
from viz.static.shapes import Cells, Text


def test_every_head_has_its_name_above_its_map_in_one_colour_scale() -> None:
    view = View(sentence_trace())
    made = picture_of_heads(view)
    labels = [shape for shape in made.shapes if isinstance(shape, Text)]
    maps = [shape for shape in made.shapes if isinstance(shape, Cells)]
    named = [(layer, head) for layer in range(view.layers) for head in range(view.heads)]
    assert [label.text for label in labels] == [f"{layer}-{head}" for layer, head in named]
    for (layer, head), label, drawn in zip(named, labels, maps, strict=True):
        assert np.array_equal(drawn.colours, color_weights(view.weights(layer, head), 1.0))
        assert (drawn.x, drawn.y) == (label.x, label.y + LABEL_HEIGHT / 2)
        assert drawn.x + drawn.width <= made.width
        assert drawn.y + drawn.height <= made.height
    assert len({(drawn.x, drawn.y) for drawn in maps}) == len(maps)
