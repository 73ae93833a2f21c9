"""Max-pooling of maps: every cell keeps its largest weight."""

import numpy as np

from attention.view import max_pool, sample_rows


def test_a_thin_diagonal_survives() -> None:
    assert (np.diagonal(max_pool(np.eye(101, dtype=np.float32), 10)) == 1).all()


def test_small_maps_are_left_as_they_are() -> None:
    weights = np.arange(35, dtype=np.float32).reshape(5, 7)
    np.testing.assert_array_equal(max_pool(weights, 7), weights)


def test_every_cell_is_the_largest_of_its_block() -> None:
    weights = np.random.default_rng(0).random((7, 11)).astype(np.float32)
    pooled = max_pool(weights, 3)
    assert pooled.shape == (3, 3)
    assert pooled[0, 0] == weights[0:2, 0:3].max()
    assert pooled[2, 2] == weights[4:7, 7:11].max()


def test_sampled_rows_lie_in_every_cell_in_order() -> None:
    rows = sample_rows(1000, 10, 4)
    assert len(rows) == 40
    assert (np.diff(rows) > 0).all()
    assert (np.bincount(rows // 100) == 4).all()
