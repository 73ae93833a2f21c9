"""Attention weights of records against the plain formula, for masks, biases, caps, sinks and shared heads."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attention.mask import Mask
from attention.record import MAPS_ONLY, MapRecord, Unavailable
from tests.support.cases import loop_over
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


def assert_nearest(weights: Any, exact: Any) -> None:
    """Assert that each weight is the float32 value nearest to the exact weight."""
    half = np.spacing(weights.astype(np.float32)).astype(float) / 2
    np.testing.assert_array_less(np.abs(weights.astype(float) - exact), half * (1 + 1e-4))


SIZES = (0.01, 1, 80)


def sized(case: str, size: float) -> Any:
    """Return the record of a case with its scores multiplied by ``size``; at 80 the scores reach 300."""
    rec = record(**CASES[case])
    return replace(rec, query=rec.query * np.float32(size))


@loop_over("size", SIZES)
@loop_over("case", CASES)
def test_weights_are_the_nearest_numbers_to_the_formula_s(case: Any, size: float) -> None:
    rec = sized(case, size)
    for head in range(rec.heads):
        assert_nearest(rec.weights(head), by_hand(rec, head))


@loop_over("size", SIZES)
@loop_over("case", CASES)
def test_blocks_are_the_nearest_numbers_whatever_was_looked_at_before(case: Any, size: float) -> None:
    rec = sized(case, size)
    blocks: list[tuple[Any, Any]] = [
        (np.array([1]), slice(None)),  # A single row.
        (slice(1, 4), np.array([1, rec.keys - 1])),  # Row 1 of this block was computed before.
        (slice(None), slice(1, 2)),  # A single column.
        (slice(0, 2), slice(None)),
        (slice(None), slice(None)),
    ]
    for head in range(rec.heads):
        exact = by_hand(rec, head)
        for rows, cols in blocks:
            assert_nearest(rec.weights(head, rows, cols), exact[rows][:, cols])


def test_the_scores_of_the_sized_records_are_large() -> None:
    assert np.abs(sized("plain", 80).scores(0)).max() > 270


@pytest.mark.parametrize("case", CASES)
def test_what_is_computed_in_blocks_is_what_is_computed_at_once(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = record(**CASES[case])
    expected = [whole.weights(head) for head in range(whole.heads)], [whole.scores(head) for head in range(whole.heads)]
    monkeypatch.setattr("attention.record.BLOCK", 2 * whole.keys)
    rec = record(**CASES[case])
    for head in range(rec.heads):
        np.testing.assert_allclose(rec.weights(head), expected[0][head], rtol=2e-7)
        np.testing.assert_allclose(rec.scores(head), expected[1][head], rtol=2e-7)


@loop_over("size", SIZES)
@loop_over("case", CASES)
def test_rows_sum_to_what_is_given_to_keys(case: Any, size: float) -> None:
    rec = sized(case, size)
    for head in range(rec.heads):
        sums = rec.weights(head).sum(axis=1)
        some = by_hand(rec, head).any(axis=1)  # A row with all keys masked has no weights.
        np.testing.assert_allclose(sums[some], rec.row_sums(head)[some], atol=1e-6)
        assert rec.sinks is not None or np.allclose(sums[some], 1, rtol=0, atol=1e-6)


def test_what_a_sink_takes_is_missing_from_the_share() -> None:
    rec = record(sinks=numbers(3, seed=4))
    np.testing.assert_allclose(rec.row_sums(2, slice(1, 3)), by_hand(rec, 2)[1:3].sum(axis=1), atol=1e-7)


def test_a_forward_pass_s_sums_change_no_weight_but_a_quick_one() -> None:
    plain = record(5, 7)
    sums = np.stack([plain.log_sum_exp(head) for head in range(plain.heads)]).astype(np.float32)
    doubled = record(5, 7, lse=sums + np.float32(np.log(2)))
    np.testing.assert_array_equal(doubled.weights(1), plain.weights(1))
    np.testing.assert_allclose(doubled.quick().weights(1, slice(1, 3)), plain.weights(1)[1:3] / 2, rtol=1e-5)
    np.testing.assert_array_equal(plain.quick().weights(1), plain.weights(1))


def test_permuting_the_tokens_permutes_the_map() -> None:
    rec, order = record(5, 5), np.array([3, 1, 4, 0, 2])
    moved = record(5, 5, query=rec.query[:, order], key=rec.key[:, order])
    np.testing.assert_allclose(moved.weights(0), rec.weights(0)[np.ix_(order, order)], atol=1e-6)


def test_a_causal_map_is_exactly_zero_above_the_diagonal() -> None:
    assert (np.triu(record(5, 5, mask=Mask(5, 5, causal=True)).weights(0), 1) == 0).all()


def test_known_maps_have_no_scores() -> None:
    rec = MapRecord(np.full((3, 5, 7), 1 / 7, np.float32))
    assert rec.weights(2, slice(1, 3), slice(0, 2)).shape == (2, 2)
    with pytest.raises(Unavailable, match=re.escape(MAPS_ONLY)):
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
