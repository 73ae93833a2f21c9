"""Tests of the similarity map: each head is a point with its group's colour and symbol, and its name."""

from __future__ import annotations

from typing import Any

import numpy as np

from viz.figures.head_maps import picked_head, similarity_map
from viz.figures.theme import LIGHT, Figure

POINTS = np.array([[0.0, 0.0], [1.0, 0.2], [1.001, 0.2], [2.0, 1.0]])
HEADS = [(0, 0), (0, 1), (1, 0), (1, 1)]


def figure(**extra: Any) -> Figure:
    return similarity_map(POINTS, [0, 1, 1, 0], HEADS, ["a", "<b>", "c", "d"], LIGHT, "t", **extra)


def test_groups_are_told_apart_twice() -> None:
    one, other = figure().data
    assert one.marker.color != other.marker.color
    assert one.marker.symbol != other.marker.symbol
    assert (one.name, other.name) == ("group 1 (2)", "group 2 (2)")
    assert list(one.x) == [0, 2]


def test_names_stand_where_there_is_room_and_notes_are_text() -> None:
    one, other = figure().data
    assert list(one.text) == ["0-0", "1-1"]
    assert list(other.text) == ["", ""]
    assert other.customdata[0][2] == "&lt;b&gt;"


def test_a_click_names_its_head_and_the_selected_one_is_ringed() -> None:
    shown = figure(selected=(1, 0))
    point = {"customdata": list(shown.data[1].customdata[1])}
    assert picked_head({"selection": {"points": [point]}}) == (1, 0)
    ring = shown.data[-1]
    assert (ring.x[0], ring.y[0]) == (1.001, 0.2)
