"""Similarity of heads: distances with known values, and recovery of known groups."""

from __future__ import annotations

import numpy as np
import pytest

from attention import vectors
from attention.record import MapRecord
from attention.vectors import compare, divergences, flat, groups
from tests.support.traces import HEADS, LAYERS, sentence_trace


def random_maps(heads: int = 5, rows: int = 4, keys: int = 7, seed: int = 0) -> np.ndarray:
    weights = np.random.default_rng(seed).random((heads, rows, keys)).astype(np.float32) ** 3
    shares: np.ndarray = weights / weights.sum(-1, keepdims=True)
    return shares


def test_divergence_equals_the_formula() -> None:
    maps = random_maps().astype(np.float64)
    found = divergences(maps)  # type: ignore[arg-type]  # exact to more digits than a model has

    def relative(one: np.ndarray, other: np.ndarray) -> float:
        return float((one * np.log2(one / other)).sum())

    for i in range(5):
        for j in range(5):
            middle = (maps[i] + maps[j]) / 2
            expected = (relative(maps[i], middle) + relative(maps[j], middle)) / 2
            assert found[i, j] == pytest.approx(expected, abs=1e-6)


def test_distances_are_a_metric() -> None:
    distances = compare(sentence_trace()).distances()
    size = LAYERS * HEADS
    assert distances.shape == (size, size)
    np.testing.assert_array_equal(distances, distances.T)
    assert np.diagonal(distances).tolist() == [0] * size
    assert ((distances >= 0) & (distances <= 1)).all()
    through = distances[:, :, None] + distances[None, :, :]
    assert (distances[:, None, :] <= through + 1e-6).all()


def test_heads_that_look_nowhere_in_common_are_one_apart() -> None:
    maps = np.zeros((2, 6, 6), np.float32)
    maps[0, :, 1] = maps[1, :, 3] = 1
    trace = sentence_trace(parts={"encoder": (MapRecord(maps),)})
    np.testing.assert_allclose(compare(trace).distances(), [[0, 1], [1, 0]], atol=1e-6)


def test_several_texts_add_up() -> None:
    one, other = compare(sentence_trace()), compare(sentence_trace())
    both = one + other
    assert both.tokens == 2 * one.tokens == 8  # Special tokens do not count.
    np.testing.assert_allclose(both.distances(), one.distances())


def test_of_a_long_text_fewer_tokens_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "MOST_WORK", 250)
    assert compare(sentence_trace()).tokens == 2  # The limit is 2 · 250 / (6² heads · 6 keys).


def test_points_in_a_plane_are_found_again() -> None:
    points = np.random.default_rng(1).standard_normal((6, 2))
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    found, kept = flat(distances)
    np.testing.assert_allclose(np.linalg.norm(found[:, None] - found[None], axis=-1), distances, atol=1e-9)
    assert kept == pytest.approx(1)


def test_more_dimensions_are_said_to_be_lost() -> None:
    corners = np.eye(4)
    distances = np.linalg.norm(corners[:, None] - corners[None], axis=-1)
    _, kept = flat(distances)
    assert kept == pytest.approx(2 / 3)  # Four points at equal distances need three dimensions.


@pytest.mark.parametrize("size", [1, 2])
def test_few_heads_have_a_map_too(size: int) -> None:
    points, kept = flat(np.ones((size, size)) - np.eye(size))
    assert points.shape == (size, 2)
    assert kept == pytest.approx(1)
    assert groups(np.ones((size, size)) - np.eye(size), 5).tolist() == list(range(size))


def test_groups_that_are_there_are_found() -> None:
    places = np.array([0.0, 10.0, 0.1, 10.1, 20.0, 0.2])
    distances = np.abs(places[:, None] - places[None])
    assert groups(distances, 3).tolist() == [0, 1, 0, 1, 2, 0]
    assert groups(distances, 1).tolist() == [0] * 6
    assert groups(distances, 6).tolist() == [0, 1, 2, 3, 4, 5]


def test_groups_do_not_depend_on_the_order_of_heads() -> None:
    distances = compare(sentence_trace()).distances()
    order = np.array([3, 1, 5, 0, 2, 4])
    one, other = groups(distances, 3)[order], groups(distances[np.ix_(order, order)], 3)
    assert ((one[:, None] == one) == (other[:, None] == other)).all()
