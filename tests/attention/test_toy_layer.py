"""The toy example from inputs to probabilities: equal to torch, with its laws and a case by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from attention.toy_example import PLAIN, Matrices, ToyRules, compute_example, norm, sinusoidal_positions, softmax
from tests.support.cases import loop_over

TOKENS, COLUMNS, HEADS, HIDDEN, WORDS = 5, 4, 2, 3, 6


def given(seed: int = 0, width: int = COLUMNS) -> Matrices:
    """Return random matrices for five tokens of four columns; ``width`` is the width of all heads together."""
    draw = np.random.default_rng(seed).normal
    return Matrices(
        x=draw(size=(TOKENS, COLUMNS)),
        w_q=draw(size=(COLUMNS, width)),
        w_k=draw(size=(COLUMNS, width)),
        w_v=draw(size=(COLUMNS, width)),
        w_o=draw(size=(width, COLUMNS)),
        w_1=draw(size=(COLUMNS, HIDDEN)),
        w_2=draw(size=(HIDDEN, COLUMNS)),
        e=draw(size=(WORDS, COLUMNS)),
    )


def torchs(matrices: Matrices, heads: int, causal: bool) -> Any:
    """Return the output of torch's own encoder layer for the same matrices, shape (token, column)."""
    layer = torch.nn.TransformerEncoderLayer(
        COLUMNS, heads, HIDDEN, dropout=0.0, batch_first=True, bias=False, dtype=torch.float64
    ).eval()
    attention: Any = layer.self_attn

    def tensor(matrix: Any) -> torch.nn.Parameter:
        return torch.nn.Parameter(torch.from_numpy(np.ascontiguousarray(matrix)))

    attention.in_proj_weight = tensor(np.concatenate([matrices.w_q.T, matrices.w_k.T, matrices.w_v.T]))
    attention.out_proj.weight = tensor(matrices.w_o.T)
    layer.linear1.weight, layer.linear2.weight = tensor(matrices.w_1.T), tensor(matrices.w_2.T)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(TOKENS, dtype=torch.float64) if causal else None
    with torch.no_grad():
        return layer(torch.from_numpy(matrices.x)[None], src_mask=mask, is_causal=causal)[0].numpy()


@loop_over("causal", [False, True])
@loop_over("heads", [1, 2, 4])
def test_it_is_what_torchs_own_layer_computes(heads: int, causal: bool) -> None:
    matrices = given()
    found = compute_example(matrices, ToyRules(heads=heads, causal=causal))
    np.testing.assert_allclose(found.last, torchs(matrices, heads, causal), atol=1e-10)
    chances = torch.softmax(torch.from_numpy(found.last @ matrices.e.T), dim=-1).numpy()
    np.testing.assert_allclose(found.chances, chances, atol=1e-12)


@pytest.mark.parametrize("scaled", [True, False])
def test_the_scale_is_the_root_of_d_k_or_nothing(scaled: bool) -> None:
    matrices = given(width=6)
    worked = compute_example(matrices, ToyRules(heads=HEADS, scaled=scaled)).worked
    split = lambda made: torch.from_numpy(made.reshape(TOKENS, HEADS, 3).swapaxes(0, 1))  # noqa: E731
    q, k, v = map(split, (worked.queries, worked.keys, worked.values))
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=None if scaled else 1.0)
    np.testing.assert_allclose(worked.mixed, theirs.numpy(), atol=1e-12)


@pytest.mark.parametrize("layer", [True, False])
@pytest.mark.parametrize("positions", [True, False])
def test_the_rows_of_every_softmax_sum_to_one(positions: bool, layer: bool) -> None:
    found = compute_example(given(width=6), ToyRules(heads=3, causal=True, positions=positions, layer=layer))
    np.testing.assert_allclose(found.worked.weights.sum(axis=-1), 1)
    np.testing.assert_allclose(found.worked.powers.sum(axis=-1), found.worked.sums)
    np.testing.assert_allclose(found.chances.sum(axis=-1), 1)
    assert found.chances.shape == (TOKENS, WORDS)
    assert (found.layer is None) != layer
    if not layer:
        np.testing.assert_array_equal(found.last, found.joined)


def test_a_norms_rows_have_mean_zero_and_variance_one() -> None:
    rows = norm(given().x)
    np.testing.assert_allclose(rows.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(rows.var(axis=1), 1, atol=1e-3)


def test_order_counts_with_positions_alone() -> None:
    """Without positions, permuted tokens permute the rows; with positions, the values change."""
    matrices, order = given(), np.array([3, 1, 4, 0, 2])
    moved = replace(matrices, x=matrices.x[order])
    np.testing.assert_allclose(
        compute_example(moved, ToyRules()).chances, compute_example(matrices, ToyRules()).chances[order]
    )
    with_them = ToyRules(positions=True)
    assert (
        np.abs(compute_example(moved, with_them).chances - compute_example(matrices, with_them).chances[order]).max()
        > 0.01
    )


def test_positions_by_hand() -> None:
    """Position 2 of four columns is sin 2, cos 2, sin 0.02, cos 0.02; with an odd width the last column is a sine."""
    np.testing.assert_allclose(
        sinusoidal_positions(3, 4)[2], [math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)]
    )
    assert sinusoidal_positions(4, 3).shape == (4, 3)
    np.testing.assert_allclose(sinusoidal_positions(4, 3)[1, 2], math.sin(1 / 10_000 ** (2 / 3)))


def test_a_layer_by_hand() -> None:
    """A single token attends to itself: x = (1, 3) has the sum (2, 6) and the norm (-1, 1). ReLU gives (0, 1), the
    second sum is (-1, 2) with the norm (-1, 1), and the embeddings (1, 0) and (0, 1) turn this into logits.
    """
    one = np.eye(2)
    found = compute_example(Matrices(np.array([[1.0, 3.0]]), one, one, one, one, one, one, one), ToyRules())
    layer = found.layer
    assert layer is not None
    assert layer.added.tolist() == [[2, 6]]
    np.testing.assert_allclose(layer.normed, [[-1, 1]], atol=1e-5)
    np.testing.assert_allclose(layer.active, [[0, 1]], atol=1e-5)
    np.testing.assert_allclose(layer.summed, [[-1, 2]], atol=1e-5)
    np.testing.assert_allclose(found.logits[0], [-1, 1], atol=1e-5)
    np.testing.assert_allclose(found.chances[0, 1], math.e / (math.e + 1 / math.e), atol=1e-5)


@pytest.mark.parametrize("largest", [PLAIN, PLAIN + 1, 1e6])
def test_a_shift_changes_no_share(largest: float) -> None:
    scores = np.array([[largest, largest - 1], [0.0, -np.inf]])
    shift, powers, _, shares = softmax(scores)
    assert (shift[0] == 0) == (largest <= PLAIN)
    assert np.isfinite(powers).all()
    first = 1 / (1 + 1 / math.e)
    np.testing.assert_allclose(shares, np.array([[first, 1 - first], [1.0, 0.0]]))


@pytest.mark.parametrize(("name", "said"), [("w_o", "W_O has shape"), ("w_2", "W_2 has shape"), ("e", "E has shape")])
def test_sizes_that_do_not_fit_are_refused(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        compute_example(replace(given(), **{name: np.ones((7, 7))}), ToyRules())
