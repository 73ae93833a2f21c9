"""Attention from a record equals the plain formula, for every kind of mask, bias, cap, sink and head sharing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.mask import Mask
from attention.record import MapRecord, Unavailable
from tests.support.traces import by_hand, numbers, record

CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "unequal axes": {"queries": 5, "keys": 7},
    "grouped queries": {"heads": 6, "kv_heads": 2, "queries": 5, "keys": 7},
    "causal": {"mask": Mask(5, 5, causal=True)},
    "causal with a cache": {"queries": 2, "keys": 5, "mask": Mask(2, 5, causal=True)},
    "window": {"queries": 7, "keys": 7, "mask": Mask(7, 7, left=2, right=1)},
    "causal window": {"queries": 7, "keys": 7, "mask": Mask(7, 7, causal=True, left=2)},
    "array": {"queries": 2, "keys": 3, "mask": Mask(2, 3, allowed=np.array([[1, 0, 1], [0, 1, 1]]) > 0)},
    "a row with nothing allowed": {"queries": 2, "keys": 2, "mask": Mask(2, 2, allowed=np.array([[0, 0], [1, 1]]) > 0)},
    "bias by head": {"queries": 5, "keys": 7, "bias": numbers(3, 5, 7, seed=9)},
    "shared bias": {"queries": 5, "keys": 7, "bias": numbers(1, 5, 7, seed=9)},
    "soft cap": {"softcap": 1.5},
    "sinks": {"sinks": numbers(3, seed=4)},
    "everything": {
        "heads": 4, "kv_heads": 2, "queries": 5, "keys": 7, "mask": Mask(5, 7, causal=True, left=3),
        "bias": numbers(4, 5, 7, seed=9), "softcap": 2.0, "sinks": numbers(4, seed=4),
    },
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_weights_equal_the_formula(case: Any) -> None:
    rec = record(**CASES[case])
    for head in range(rec.heads):
        np.testing.assert_allclose(rec.weights(head), by_hand(rec, head), atol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_a_block_equals_that_part_of_the_whole(case: Any) -> None:
    rec = record(**CASES[case])
    rows, cols = slice(1, 4), np.array([1, rec.keys - 1])
    for head in range(rec.heads):
        np.testing.assert_allclose(rec.weights(head, rows, cols), by_hand(rec, head)[rows][:, cols], atol=1e-6)


def test_a_recorded_sum_gives_the_same_weights() -> None:
    plain = record(5, 7)
    sums = np.stack([plain.log_sum_exp(head) for head in range(plain.heads)])
    given = record(5, 7, lse=sums)
    np.testing.assert_allclose(given.weights(1), plain.weights(1), atol=1e-6)


def test_rows_sum_to_one() -> None:
    rec = record(5, 7, mask=Mask(5, 7, causal=True))
    np.testing.assert_allclose(rec.weights(2).sum(axis=1), 1, atol=1e-6)


def test_permuting_the_tokens_permutes_the_map() -> None:
    rec, order = record(5, 5), np.array([3, 1, 4, 0, 2])
    moved = record(5, 5, query=rec.query[:, order], key=rec.key[:, order])
    np.testing.assert_allclose(moved.weights(0), rec.weights(0)[np.ix_(order, order)], atol=1e-6)


def test_a_causal_map_is_exactly_zero_above_the_diagonal() -> None:
    assert (np.triu(record(5, 5, mask=Mask(5, 5, causal=True)).weights(0), 1) == 0).all()


def test_known_maps_have_no_scores() -> None:
    rec = MapRecord(np.full((3, 5, 7), 1 / 7, np.float32))
    assert rec.weights(2, slice(1, 3), slice(0, 2)).shape == (2, 2)
    with pytest.raises(Unavailable, match="finished attention maps only"):
        rec.scores(0)


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (Mask(5, 5), Mask(5, 5)),
        (Mask(5, 5, causal=True), Mask(5, 5, causal=True)),
        (Mask(2, 5, causal=True), Mask(2, 5, causal=True)),
        (Mask(7, 7, left=2, right=1), Mask(7, 7, left=2, right=1)),
        (Mask(7, 7, causal=True, left=2), Mask(7, 7, causal=True, left=2)),
    ],
)
def test_a_mask_that_is_a_rule_is_stored_as_the_rule(mask: Any, expected: Any) -> None:
    block = mask.block(slice(None), slice(None))
    found = Mask.compact(np.ones((mask.queries, mask.keys), bool) if block is None else block)
    assert vars(found) == vars(expected)


def test_any_other_mask_is_kept_as_it_is() -> None:
    allowed = np.random.default_rng(0).random((5, 7)) > 0.4
    found = Mask.compact(allowed)
    np.testing.assert_array_equal(found.block(slice(None), slice(None)), allowed)


def test_compacting_never_changes_what_is_allowed() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        queries, keys = rng.integers(1, 6, 2)
        allowed = rng.random((queries, keys)) > rng.random()
        block = Mask.compact(allowed).block(slice(None), slice(None))
        np.testing.assert_array_equal(np.ones_like(allowed) if block is None else block, allowed)
