"""A picture of every attention head's map, without labels of tokens, for paper."""

from __future__ import annotations

from attention.view import View
from i18n import _
from viz.static.head import color_weights
from viz.static.shapes import Cells, Shape, StaticPicture, Text

MAP, GAP, LABEL = 52, 6, 12  # pixels of a map, between maps, and of the label above each map
INK = "#333333"


def picture(view: View) -> StaticPicture:
    """Return the maps of all heads, a row for each layer, with the numbers of layer and head above each map."""
    shapes: list[Shape] = []
    for layer in range(view.layers):
        for head in range(view.heads):
            x, y = head * (MAP + GAP), layer * (MAP + GAP + LABEL)
            shapes.append(Text(f"{layer}-{head}", x, y + LABEL / 2, 9, INK))
            shapes.append(Cells(x, y + LABEL, MAP, MAP, color_weights(view.weights(layer, head), 1.0)))
    wide, tall = view.heads * (MAP + GAP) - GAP, view.layers * (MAP + GAP + LABEL) - GAP
    return StaticPicture(wide, tall, tuple(shapes), _("All heads"))
