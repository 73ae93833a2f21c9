"""Sampling from logits: equal to the logits warpers of transformers, and reproducible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from attention.mask import FloatArray
from attention.softmax import distribution_entropy, draw, shape
from tests.support.cases import loop_over

TIED = np.array([1.0, 3.0, 3.0, -1.0, 3.0, 0.5, 0.5])


def warped(logits: Any, temperature: Any, top_k: Any, top_p: Any) -> FloatArray:
    """Return the probabilities after the logits warpers of transformers, in its order."""
    scores = torch.tensor(np.asarray(logits, dtype=np.float64))[None]
    scores = TemperatureLogitsWarper(float(temperature))(None, scores)
    scores = TopKLogitsWarper(top_k)(None, scores) if top_k else scores
    scores = TopPLogitsWarper(top_p)(None, scores) if top_p < 1 else scores
    found: FloatArray = scores.softmax(-1)[0].numpy()
    return found


@loop_over("temperature", [0.1, 0.7, 1.0, 2.5])
@loop_over("top_k", [0, 1, 5, 50, 99])
@loop_over("top_p", [0.0, 0.05, 0.5, 0.9, 0.999, 1.0])
def test_shapes_equal_transformers(temperature: float, top_k: int, top_p: float) -> None:
    logits = np.random.default_rng(1).normal(size=53) * 4
    found = shape(logits, temperature, top_k, top_p)
    assert found.dtype == np.float64
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, warped(logits, temperature, top_k, top_p), atol=1e-12)


@loop_over("top_k", [0, 1, 2, 3, 4])
@loop_over("top_p", [0.1, 0.4, 0.8, 1.0])
def test_equal_logits_are_treated_as_transformers_treats_them(top_k: int, top_p: float) -> None:
    np.testing.assert_allclose(shape(TIED, 1, top_k, top_p), warped(TIED, 1, top_k, top_p), atol=1e-12)


def test_a_banned_token_stays_banned() -> None:
    found = shape([0.0, -np.inf, 1.0], temperature=5)
    assert found[1] == 0
    np.testing.assert_allclose(found, warped([0.0, -np.inf, 1.0], 5, 0, 1.0), atol=1e-12)


def test_towards_temperature_zero_the_likeliest_remains() -> None:
    logits = np.array([0.0, 4.0, 3.9])
    assert shape(logits, temperature=0).tolist() == [0, 1, 0]
    assert shape(TIED, temperature=0).argmax() == TIED.argmax()
    np.testing.assert_allclose(shape(logits, temperature=1e-4), [0, 1, 0], atol=1e-12)


def test_by_hand() -> None:
    logits = np.log([0.5, 0.25, 0.125, 0.125])
    np.testing.assert_allclose(shape(logits), [0.5, 0.25, 0.125, 0.125])
    np.testing.assert_allclose(shape(logits, temperature=0.5), np.array([16, 4, 1, 1]) / 22)
    np.testing.assert_allclose(shape(logits, top_k=2), [2 / 3, 1 / 3, 0, 0])
    np.testing.assert_allclose(shape(logits, top_p=0.7), [2 / 3, 1 / 3, 0, 0])
    np.testing.assert_allclose(shape(logits, top_p=0.4), [1, 0, 0, 0])


@loop_over("odd", [{"temperature": -1}, {"top_k": -1}, {"top_p": 1.1}, {"top_p": -0.1}])
def test_rules_out_of_range_are_refused(odd: Any) -> None:
    with pytest.raises(ValueError, match="below 0"):
        shape([0.0, 1.0], **odd)


@loop_over("odd", [[], [-np.inf, -np.inf], [0.0, np.nan], [[0.0, 1.0]], [np.inf, 0.0]])
def test_logits_with_nothing_to_draw_are_refused(odd: Any) -> None:
    with pytest.raises(ValueError, match="finite number"):
        shape(odd)


def test_entropy_in_bits() -> None:
    assert distribution_entropy(np.full(8, 1 / 8)) == pytest.approx(3)
    assert distribution_entropy([0.0, 1.0]) == 0
    assert distribution_entropy([0.5, 0.25, 0.25]) == pytest.approx(1.5)


def test_a_draw_is_decided_by_seed_and_place() -> None:
    even = np.full(50, 1 / 50)
    assert draw(even, 3, 7) == draw(even, 3, 7)
    assert len({draw(even, 3, at) for at in range(40)}) > 15
    assert len({draw(even, seed, 0) for seed in range(40)}) > 15


def test_draws_follow_the_distribution() -> None:
    wanted = np.array([0.0, 0.5, 0.0, 0.3, 0.2, 0.0])
    counts = np.bincount([draw(wanted, 1, at) for at in range(3000)], minlength=6) / 3000
    assert not counts[wanted == 0].any()
    np.testing.assert_allclose(counts, wanted, atol=0.04)
