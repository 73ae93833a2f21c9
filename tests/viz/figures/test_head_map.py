"""Tests of the map of heads: its numbers, and clicks that pick a head."""

import json
from typing import Any

import numpy as np
import pytest

from viz.figures.head_maps import head_map, picked_head
from viz.figures.theme import DARK, LIGHT, Figure, diverging_scale, sequential_scale

VALUES = np.array([[0.5, -1.5, 1.0], [2.0, np.nan, 0.75]])  # Shape (layer, head).


def cells(figure: Figure) -> Any:
    (heat,) = [trace for trace in figure.data if trace.type == "heatmap"]
    return heat


def points(figure: Figure) -> Any:
    (scatter,) = [trace for trace in figure.data if trace.type == "scatter"]
    return scatter


def test_each_cell_is_a_head_and_layers_go_down() -> None:
    figure = head_map(VALUES, LIGHT, "Heads", "bits")
    heat = cells(figure)
    np.testing.assert_array_equal(heat.z, VALUES)
    assert list(heat.x) == [0, 1, 2]
    assert list(heat.y) == [0, 1]
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]
    assert figure.layout.yaxis.scaleanchor == "x", "cells are squares"
    assert figure.layout.title.subtitle.text == "Bits"


def test_scales_are_centred_or_begin_at_zero() -> None:
    assert (cells(head_map(VALUES, LIGHT, "", "")).zmin, cells(head_map(VALUES, LIGHT, "", "")).zmax) == (0, 2)
    centred = cells(head_map(VALUES, LIGHT, "", "", diverging=True))
    assert (centred.zmin, centred.zmax) == (-2, 2)
    shared = cells(head_map(VALUES, LIGHT, "", "", diverging=True, limit=5.0))
    assert (shared.zmin, shared.zmax) == (-5, 5)
    nothing = cells(head_map(np.full((2, 3), np.nan), LIGHT, "", ""))
    assert (nothing.zmin, nothing.zmax) == (0, 1)


def test_every_head_with_a_number_can_be_picked_where_it_stands() -> None:
    scatter = points(head_map(VALUES, LIGHT, "Heads", "bits"))
    assert len(scatter.x) == 5, "not the one without a number"
    for x, y, (layer, head, value) in zip(scatter.x, scatter.y, scatter.customdata, strict=True):
        assert (y, x) == (layer, head)
        assert value == VALUES[layer, head]
        event = {"selection": {"points": [{"x": x, "y": y, "customdata": [layer, head, value]}]}}
        assert picked_head(event) == (layer, head)


@pytest.mark.parametrize("event", [None, {}, {"selection": {"points": []}}])
def test_no_click_is_no_head(event: dict[str, Any] | None) -> None:
    assert picked_head(event) is None


def test_the_chosen_head_is_outlined() -> None:
    figure = head_map(VALUES, DARK, "Heads", "bits", selected=(1, 2))
    for shape in figure.layout.shapes:
        assert (shape.x0, shape.x1, shape.y0, shape.y1) == (1.5, 2.5, 0.5, 1.5)
    assert figure.layout.shapes[-1].line.color == DARK.accent


def test_titles_are_text() -> None:
    content = json.loads(head_map(VALUES, LIGHT, "<b>x", "<i>y").to_json())
    assert content["layout"]["title"]["text"] == "&lt;b&gt;x"
    assert content["layout"]["title"]["subtitle"]["text"] == "&lt;i&gt;y"


def test_what_is_most_stands_out_in_both_themes() -> None:
    assert sequential_scale(LIGHT) == [
        [at, colour] for (at, _), (_, colour) in zip(sequential_scale(DARK), sequential_scale(DARK)[::-1], strict=True)
    ]
    for theme, ground in ((LIGHT, "#f8f8f8"), (DARK, "#1e1e1e")):
        assert diverging_scale(theme)[4] == [0.5, ground]
        assert len(diverging_scale(theme)) == 9
