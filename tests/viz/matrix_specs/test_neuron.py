"""Tests of the products of a query and its keys, channel by channel."""

import numpy as np

from tests.support.traces import numbers
from viz.matrix_specs.heads import neuron


def test_rows_of_products_sum_to_the_dot_products() -> None:
    query, keys, weights = numbers(4, seed=1), numbers(3, 4, seed=2), np.array([0.2, 0.5, 0.3], np.float32)
    sheets = {sheet.name: sheet for sheet in neuron(query, keys, 0.5, weights, ("a", "b", "c"), 1)}
    np.testing.assert_allclose(sheets["q × k"].values.sum(axis=1), keys @ query, rtol=1e-5)
    np.testing.assert_allclose(sheets["q · k"].values[:, 0], keys @ query, rtol=1e-5)
    assert sheets["weight"].values[:, 0].tolist() == weights.tolist()
    assert sheets["q × k"].marked_rows == (1,)


def test_a_channel_that_is_the_same_for_every_key_tells_nothing_apart() -> None:
    keys = np.array([[1, 2], [1, -2]], np.float32)
    spread = neuron(np.array([9, 3], np.float32), keys, 0.5, np.ones(2, np.float32), ("a", "b"), None)[-1]
    assert spread.values.tolist() == [[0.0, 3.0]]
