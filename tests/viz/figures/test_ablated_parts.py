"""Test of the figure of ablated parts: seeds and their mean for each part and kind."""

from __future__ import annotations

import pytest

from viz.figures.theme import LIGHT
from viz.figures.training import ablated_parts

KINDS = {"near": {"whole": (1.0, 0.5), "<i>": (0.4, 0.2)}, "far": {"whole": (0.5, 0.3), "<i>": (0.1, 0.1)}}


def test_means_stand_among_their_seeds_and_beside_the_other_kind() -> None:
    figure = ablated_parts(KINDS, LIGHT, "<b>", "share", 0.25)
    near, near_mean, far, far_mean = figure.data
    assert list(near.x) == [1.0, 0.5, 0.4, 0.2]
    assert near_mean.x == pytest.approx([0.75, 0.3])
    assert far_mean.x == pytest.approx([0.4, 0.1])
    assert set(near.y) == set(near_mean.y)
    assert set(far.y) == set(far_mean.y)
    assert all(above < below for above, below in zip(near_mean.y, far_mean.y, strict=True))
    assert near_mean.marker.symbol != far_mean.marker.symbol
    assert list(figure.layout.yaxis.ticktext) == ["whole", "&lt;i&gt;"]
    assert figure.layout.shapes[0].x0 == 0.25
