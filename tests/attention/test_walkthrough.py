"""Steps of an attention layer against the formulas in float64, against recorded values, and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.mask import Mask
from attention.walkthrough import (
    LayerParameters,
    Norm,
    ProjectionParameters,
    Rotary,
    flatten,
    make,
    normalise,
    normalise_heads,
    project,
    rotate,
    softmax,
    trace_layer_steps,
    weigh,
    weigh_head,
)
from tests.support.cases import loop_over
from tests.support.traces import by_hand, numbers, record

WIDTH, HEADS, CHANNELS, TOKENS = 7, 3, 4, 5


def wiring(**extra: Any) -> Any:
    """Return the parameters of a small random layer: a residual stream of 7 channels and 3 heads of 4 channels."""
    branches = {
        name: ProjectionParameters(numbers(WIDTH, HEADS, CHANNELS, seed=seed), numbers(HEADS, CHANNELS, seed=seed + 1))
        for name, seed in (("query", 1), ("key", 3), ("value", 5))
    }
    output = numbers(HEADS, CHANNELS, WIDTH, seed=7)
    return LayerParameters(**{**branches, "output": output, "output_bias": numbers(WIDTH, seed=8), **extra})


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_a_norm_is_its_formula(kind: str) -> None:
    vectors = numbers(2, TOKENS, WIDTH, scale=3).astype(float)
    norm = Norm(kind, 1e-5, numbers(WIDTH, seed=1), numbers(WIDTH, seed=2))
    mean = vectors.mean(-1, keepdims=True) if kind == "layer" else 0
    size = np.sqrt(((vectors - mean) ** 2).mean(-1, keepdims=True) + 1e-5)
    expected = (vectors - mean) / size * norm.weight + norm.bias
    np.testing.assert_allclose(normalise(vectors.astype(np.float32), norm), expected, atol=1e-5)


def test_a_wide_norm_takes_all_heads_together() -> None:
    vectors = numbers(HEADS, TOKENS, CHANNELS)
    norm = Norm("rms", 1e-6, wide=True)
    found = normalise_heads(vectors, norm)
    np.testing.assert_allclose(flatten(found), normalise(flatten(vectors), norm))
    assert not np.allclose(found, normalise_heads(vectors, Norm("rms", 1e-6)))


@pytest.mark.parametrize("neighbours", [False, True])
def test_turning_keeps_lengths_and_makes_products_depend_on_distance_only(neighbours: bool) -> None:
    rotary = Rotary(np.array([1.0, 0.1], np.float32), neighbours=neighbours)
    query, key = (np.tile(numbers(1, 1, 6, seed=seed), (1, TOKENS, 1)) for seed in (1, 2))
    turned, other = rotate(query, rotary), rotate(key, rotary)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=2), np.linalg.norm(query, axis=2), rtol=1e-5)
    np.testing.assert_array_equal(turned[..., 4:], query[..., 4:])  # Channels outside the rotary pairs are unchanged.
    scores = turned[0] @ other[0].T
    for offset in range(1 - TOKENS, TOKENS):
        assert np.ptp(np.diagonal(scores, offset)) < 1e-4
    assert np.ptp(scores) > 0.1


def test_neighbours_turn_by_hand() -> None:
    quarter = Rotary(np.array([np.pi / 2, np.pi], np.float32), scale=2, neighbours=True)
    vectors = np.array([[[9, 9, 9, 9], [1, 2, 3, 4]]], np.float32)
    np.testing.assert_allclose(rotate(vectors, quarter)[0, 1], [-4, 2, -6, -8], atol=1e-5)


def test_a_projection_is_a_matrix_product_for_each_head() -> None:
    branch = wiring().query
    vectors = numbers(TOKENS, WIDTH, seed=9)
    found = project(vectors, branch)
    for head in range(HEADS):
        np.testing.assert_allclose(found[head], vectors @ branch.weight[:, head] + branch.bias[head], atol=1e-5)


def test_stages_follow_each_other() -> None:
    norm, rotary = Norm("rms", 1e-6), Rotary(np.array([0.3], np.float32))
    branch = ProjectionParameters(numbers(WIDTH, HEADS, CHANNELS), None, norm, rotary)
    made = make(numbers(TOKENS, WIDTH, seed=2), branch)
    assert made.normed is not None
    assert made.rotated is not None
    np.testing.assert_allclose(made.normed, normalise_heads(made.projected, norm))
    np.testing.assert_allclose(made.rotated, rotate(made.normed, rotary))
    assert made.last is made.rotated


CASES = {
    "plain": {},
    "causal": {"mask": Mask(5, 5, causal=True)},
    "window": {"mask": Mask(5, 5, causal=True, left=1)},
    "bias": {"bias": numbers(3, 5, 5, seed=4)},
    "one bias for all heads": {"bias": numbers(1, 5, 5, seed=4)},
    "soft cap": {"softcap": 1.5},
    "sinks": {"sinks": numbers(3, seed=4)},
    "everything": {"mask": Mask(5, 5, causal=True), "bias": numbers(3, 5, 5), "softcap": 2.0, "sinks": numbers(3)},
}


@loop_over("case", CASES)
def test_weighing_equals_the_formula_and_the_record(case: Any) -> None:
    rec = record(**CASES[case])
    rows = np.array([4, 1])
    for head in range(HEADS):
        found = weigh(rec.query[head][rows], rec.key[head], rec, head, rows)
        np.testing.assert_allclose(found.weights, by_hand(rec, head)[rows], atol=1e-6)
        np.testing.assert_allclose(found.weights, rec.weights(head, rows), atol=1e-6)
        np.testing.assert_allclose(found.scores, rec.scores(head, rows), atol=1e-5)
        np.testing.assert_allclose(found.scaled, found.dots * rec.scale, atol=1e-6)
        assert (found.capped is None) == (rec.softcap is None)


def test_a_factor_on_the_queries_is_part_of_the_scale() -> None:
    rec = record()
    rows = np.arange(5)
    plain = weigh(rec.query[0], rec.key[0], rec, 0, rows)
    split = weigh(rec.query[0] * 2, rec.key[0], rec, 0, rows, factor=0.5)
    assert split.scale == pytest.approx(rec.scale / 2)
    np.testing.assert_allclose(split.weights, plain.weights, atol=1e-6)


def test_a_row_with_every_key_masked_weighs_nothing() -> None:
    assert softmax(np.full((2, 3), -np.inf, np.float32)).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_large_scores_do_not_overflow() -> None:
    np.testing.assert_allclose(softmax(np.array([[1e4, 1e4]], np.float32)), [[0.5, 0.5]])


def expected_walk(layer: Any, rec: Any, stream: Any, memory: Any) -> Any:
    """Compute the whole block in float64, head by head, without the code under test."""
    vectors = stream.astype(float)
    if layer.before is not None:
        centred = vectors - vectors.mean(-1, keepdims=True)
        vectors = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + layer.before.eps)
    source = vectors if memory is None else memory.astype(float)
    total = np.zeros((len(stream), WIDTH)) + layer.output_bias
    for head in range(HEADS):
        query, key, value = (
            given @ branch.weight[:, head] + branch.bias[head]
            for given, branch in ((vectors, layer.query), (source, layer.key), (source, layer.value))
        )
        powers = np.exp(query @ key.T * rec.scale)
        if rec.mask.causal:
            powers = np.tril(powers)
        total += powers / powers.sum(1, keepdims=True) @ value @ layer.output[head]
    return total


@loop_over("before", [None, Norm("layer", 1e-5)], ids=["post-norm", "pre-norm"])
@loop_over("case", ["itself", "causal", "cross"])
def test_the_walk_is_the_block(before: Any, case: str) -> None:
    layer = wiring(before=before, closing=None if before else Norm("layer", 1e-5), ends="sum" if before else "norm")
    keys = 6 if case == "cross" else TOKENS
    memory = numbers(keys, WIDTH, seed=11) if case == "cross" else None
    rec = record(TOKENS, keys, HEADS, channels=CHANNELS, mask=Mask(TOKENS, keys, causal=case == "causal"))
    stream = numbers(TOKENS, WIDTH, seed=12)
    found = trace_layer_steps(layer, rec, stream, memory)
    output = expected_walk(layer, rec, stream, memory)
    np.testing.assert_allclose(found.output, output, atol=1e-5)
    assert found.summed is not None
    np.testing.assert_allclose(found.summed, stream + output, atol=1e-5)
    last = stream + output
    if before is None:
        last = (last - last.mean(1, keepdims=True)) / np.sqrt(last.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(found.last, last, atol=1e-5)


def test_some_rows_are_the_rows_of_the_whole() -> None:
    layer, rec, stream = wiring(), record(channels=CHANNELS), numbers(TOKENS, WIDTH, seed=3)
    rows = np.array([3, 0])
    part, whole = trace_layer_steps(layer, rec, stream, rows=rows), trace_layer_steps(layer, rec, stream)
    np.testing.assert_allclose(part.last, whole.last[rows], atol=1e-6)
    np.testing.assert_allclose(part.context, whole.context[:, rows], atol=1e-6)
    weights = weigh_head(layer, rec, part.query, part.key, 1, rows).weights
    np.testing.assert_allclose(weights @ part.value.last[1], part.context[1], atol=1e-6)


def test_heads_that_share_keys_read_their_own_group() -> None:
    shared = {
        name: ProjectionParameters(numbers(WIDTH, 1, CHANNELS, seed=seed)) for name, seed in (("key", 3), ("value", 5))
    }
    copied = {name: ProjectionParameters(np.repeat(branch.weight, HEADS, axis=1)) for name, branch in shared.items()}
    rec, stream = record(channels=CHANNELS), numbers(TOKENS, WIDTH, seed=3)
    one, many = trace_layer_steps(wiring(**shared), rec, stream), trace_layer_steps(wiring(**copied), rec, stream)
    np.testing.assert_allclose(one.last, many.last, atol=1e-5)


@pytest.mark.parametrize(("ends", "summed"), [("sum", True), ("output", False), ("beside", False)])
def test_a_way_that_ends_early_says_only_what_is_known(ends: str, summed: bool) -> None:
    found = trace_layer_steps(wiring(ends=ends), record(channels=CHANNELS), numbers(TOKENS, WIDTH))
    assert (found.summed is not None) == summed
    assert found.last is (found.summed if summed else found.output)
