"""Attention of a single token to sinks and over distances: laws, and cases computed by hand."""

import numpy as np
import pytest

from attention.roles import largest_weight_back, mean_distance_back, without_first


@pytest.fixture
def looks() -> np.ndarray:
    """Return attention weights of a single token, shape (2 layers, 3 heads, 5 keys)."""
    weights = np.random.default_rng(0).random((2, 3, 5), dtype=np.float32)
    shares: np.ndarray = weights / weights.sum(-1, keepdims=True)
    return shares


def test_without_the_first_token_rows_still_sum_to_one_and_keep_their_proportions(looks: np.ndarray) -> None:
    found = without_first(looks)
    assert found.shape == looks.shape
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-6)
    assert (found[..., 0] == 0).all()
    np.testing.assert_allclose(found[..., 1] * looks[..., 2], found[..., 2] * looks[..., 1], atol=1e-6)
    assert looks[0, 0, 0] > 0, "what was given is left as it was"


def test_a_token_that_looks_at_the_first_only_has_nothing_left_without_it() -> None:
    assert without_first(np.array([1, 0, 0], np.float32)).tolist() == [0, 0, 0]
    assert without_first(np.array([1], np.float32)).tolist() == [0]


def test_the_strongest_is_neither_the_first_nor_the_newest_nor_its_neighbour(looks: np.ndarray) -> None:
    np.testing.assert_array_equal(largest_weight_back(looks), looks[:, :, 1:3].max(-1))
    assert largest_weight_back(looks[..., :3]).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert largest_weight_back(looks[..., :1]).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_reach_by_hand() -> None:
    # The first token is left out, so the mean is 0.5 × 2 + 0.1 × 1 + 0.2 × 0.
    assert mean_distance_back(np.array([0.2, 0.5, 0.1, 0.2], np.float32)) == pytest.approx(1.1)


def test_reach_is_least_for_itself_and_most_for_the_second_token() -> None:
    eye = np.eye(5, dtype=np.float32)
    assert mean_distance_back(eye).tolist() == [0, 3, 2, 1, 0]
