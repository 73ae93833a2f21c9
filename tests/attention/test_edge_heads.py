"""Detection of heads that draw a picture's shapes, as opposed to noise, a bright patch or uniform maps."""

from __future__ import annotations

import numpy as np

from attention.patch_roles import edge_score
from attention.pictures import Grid

GRID = Grid(8, 12, 1, (0.0, 0.0, 120.0, 80.0))


def look(patches: np.ndarray, cls: float = 0.0) -> np.ndarray:
    weights = np.concatenate([[0.0], patches.reshape(-1) / patches.sum() * (1 - cls)])
    weights[0] = cls
    return weights.astype(np.float32)


def test_an_object_stands_out_from_noise_a_dot_and_nothing() -> None:
    block, dot = np.full((8, 12), 0.1), np.full((8, 12), 0.1)
    block[2:6, 3:8], dot[4, 5] = 1, 50
    noise = np.random.default_rng(0).random((8, 12))
    rows = np.array([[look(block), look(noise)], [look(dot), look(np.ones((8, 12)))]])
    found = edge_score(rows, GRID)
    assert found.shape == (2, 2)
    assert found[0, 0] > 0.6
    assert abs(found[0, 1]) < 0.3
    assert abs(found[1, 0]) < 0.1
    assert found[1, 1] == 0


def test_what_stays_with_cls_counts_against_it() -> None:
    block = np.full((8, 12), 0.1)
    block[2:6, 3:8] = 1
    whole, half = edge_score(np.array([[look(block), look(block, cls=0.5)]]), GRID)[0]
    assert np.isclose(half, whole / 2, rtol=1e-3)
