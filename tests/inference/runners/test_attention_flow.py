"""Attention flow on graphs with a known maximum flow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.agreement import shares, with_residual
from inference.runners.influence import flow


def drawn(shape: tuple[int, ...], seed: int) -> Any:
    """Return random weights in float64, so that capacities are not rounded again."""
    return np.random.default_rng(seed).random(shape)


def test_pipes_in_a_row_let_through_the_narrowest() -> None:
    mixed = np.array([[[1.0, 0.0], [0.25, 0.75]], [[0.6, 0.4], [0.0, 1.0]]])
    # Token 0 gets 0.6 directly and 0.25 through token 1; the edge to token 1 would carry 0.4.
    assert flow(mixed, 0).tolist() == [0.85, 0.4]
    assert flow(mixed, 1).tolist() == [0.25, 0.75]


def test_one_layer_s_flow_is_its_attention() -> None:
    mixed = shares(drawn((1, 5, 5), seed=0))
    for query in range(5):
        np.testing.assert_allclose(flow(mixed, query), mixed[0, query], atol=1e-6)


@pytest.mark.parametrize("layers", [1, 2, 5])
def test_flow_lies_between_a_single_path_and_all_that_leaves(layers: int) -> None:
    mixed = with_residual(shares(drawn((layers, 4, 4), seed=1)))
    found = flow(mixed, 2)
    straight = mixed[:, range(4), range(4)].min(axis=0)
    assert (found <= 1 + 1e-9).all()
    assert found[2] >= straight[2] - 1e-6
