"""Measures on maps whose answers can be worked out by hand."""

import numpy as np
import pytest

from attention.measures import by_offset, distance, entropy, received, survey
from attention.record import MapRecord
from attention.view import View
from tests.support.traces import sentence_trace


def test_entropy_is_between_one_key_and_uniform() -> None:
    assert entropy(np.eye(5, 7, dtype=np.float32)).tolist() == [0] * 5
    np.testing.assert_allclose(entropy(np.full((5, 8), 1 / 8, np.float32)), 3, atol=1e-6)


def test_entropy_of_half_precision_maps_is_a_number() -> None:
    weights = np.array([[1.0, 6e-8, 0.0]], np.float16).astype(np.float32)
    assert np.isfinite(entropy(weights)).all()


def test_distance_of_a_shifted_diagonal_is_the_shift() -> None:
    weights = np.eye(7, dtype=np.float32)[:, [2, 3, 4, 5, 6, 0, 1]][:, np.argsort([2, 3, 4, 5, 6, 0, 1])]
    assert distance(weights).tolist() == [0] * 7
    assert distance(np.eye(5, 7, k=2, dtype=np.float32)).tolist() == [2] * 5


def test_a_survey_describes_the_shares_among_what_is_shown() -> None:
    """0.8 on a hidden [CLS] and the rest spread evenly over four words is an even spread: 2 bits."""
    maps = np.full((3, 6, 6), 0.05, np.float32)
    maps[:, :, 0] = 0.8
    maps[:, :, 5] = 0.0
    trace = sentence_trace(parts={"encoder": (MapRecord(maps),)})
    found = survey(View(trace, special=False), 8)
    np.testing.assert_allclose(found.entropy, 2, atol=1e-5)
    np.testing.assert_allclose(found.distance, 1.25, atol=1e-5)


def test_received_sums_to_one_over_the_keys() -> None:
    weights = sentence_trace().weights(0, 0)
    assert received(weights).sum() == pytest.approx(1, abs=1e-6)


def test_shares_by_offset_name_the_direction() -> None:
    weights = np.eye(5, k=1, dtype=np.float32)
    assert by_offset(weights, 2).tolist() == [0, 0, 0, 1, 0]


def test_a_survey_equals_its_measures_one_by_one() -> None:
    view = View(sentence_trace())
    found = survey(view, 4)
    np.testing.assert_array_equal(found.thumbnails, view.thumbnails(4))
    for layer in range(view.layers):
        for head in range(view.heads):
            weights = view.weights(layer, head)
            assert found.entropy[layer, head] == pytest.approx(entropy(weights).mean(), abs=1e-6)
            assert found.distance[layer, head] == pytest.approx(distance(weights).mean(), abs=1e-6)
    every = [received(view.weights(layer, head)) for layer in range(view.layers) for head in range(view.heads)]
    np.testing.assert_allclose(found.received, np.mean(every, axis=0), atol=1e-6)
    assert not found.sampled
