"""Attention rollout, value-weighted norms and zeroed values: laws and small cases by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.agreement import (
    mean_maps,
    mean_row_distance,
    norms,
    norms_of,
    over_words,
    rollout,
    shares,
    with_residual,
    zeroing_rollout,
)
from attention.record import Record
from tests.support.traces import sentence_trace

LAYERS, HEADS, QUERIES, KEYS, CHANNELS, WIDTH = 4, 3, 5, 7, 2, 6


@pytest.fixture
def generator() -> Any:
    return np.random.default_rng(0)


def test_rolled_out_rows_sum_to_one(generator: Any) -> None:
    maps = shares(generator.random((LAYERS, QUERIES, QUERIES)))
    np.testing.assert_allclose(rollout(with_residual(maps)).sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(rollout(maps).sum(axis=1), 1, atol=1e-12)


def test_two_layers_rolled_out_by_hand() -> None:
    # In layer 0 both tokens attend to token 1; in layer 1 token 0 attends evenly to both and token 1 to token 0.
    maps = np.array([[[0.0, 1.0], [0.0, 1.0]], [[0.5, 0.5], [1.0, 0.0]]])
    mixed = with_residual(maps)
    np.testing.assert_allclose(mixed, [[[0.5, 0.5], [0.0, 1.0]], [[0.75, 0.25], [0.5, 0.5]]])
    np.testing.assert_allclose(rollout(mixed), [[0.375, 0.625], [0.25, 0.75]])


def test_norms_equal_the_formula_written_out(generator: Any) -> None:
    weights = shares(generator.random((HEADS, QUERIES, KEYS)))
    values, output = generator.normal(size=(HEADS, KEYS, CHANNELS)), generator.normal(size=(HEADS, CHANNELS, WIDTH))
    found = norms(weights, values, output)
    for query in range(QUERIES):
        for key in range(KEYS):
            added = sum(weights[head, query, key] * values[head, key] @ output[head] for head in range(HEADS))
            assert found[query, key] == pytest.approx(np.linalg.norm(added))


def test_heads_that_cancel_have_no_norm() -> None:
    weights = np.full((2, 1, 1), 0.5)
    values = np.array([[[1.0, 2.0]], [[1.0, 2.0]]])
    output = np.array([np.eye(2), -np.eye(2)])
    assert norms(weights, values, output).tolist() == [[0.0]]


def test_values_zeroed_and_rolled_out_leave_a_still_token_to_itself() -> None:
    distances = np.array([[[0.0, 0.0], [0.3, 0.1]], [[0.1, 0.1], [0.0, 0.2]]])
    found = zeroing_rollout(distances)
    np.testing.assert_allclose(found, [[0.5 + 0.375, 0.125], [0.75, 0.25]])
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_rows_alike_are_not_apart_and_their_product_comes_together(generator: Any) -> None:
    maps = shares(generator.random((LAYERS, QUERIES, QUERIES)))
    assert mean_row_distance(np.eye(3, dtype=np.float32)) == 1
    assert mean_row_distance(np.full((3, 4), 0.25, np.float32)) == 0
    assert mean_row_distance(np.ones((1, 1), np.float32)) == 0
    assert mean_row_distance(rollout(maps)) < mean_row_distance(maps[0])


def test_words_sum_their_pieces() -> None:
    assert over_words(np.arange(5, dtype=np.float32), [(0, 2), (3, 5)]).tolist() == [1.0, 7.0]


def test_a_trace_s_maps_are_means_over_heads() -> None:
    trace = sentence_trace()
    maps = mean_maps(trace)
    records = trace.records()
    assert maps.shape == (len(records), records[0].queries, records[0].keys)
    mean = np.mean([records[1].weights(head) for head in range(records[1].heads)], axis=0)
    np.testing.assert_allclose(maps[1], mean, atol=1e-6)
    first = records[0]
    assert isinstance(first, Record)
    output = np.ones((first.heads, first.value.shape[-1], 4), np.float32)
    assert norms_of(first, output, slice(1, 3)).shape == (2, records[0].keys)
