"""Comparison of two maps over their common cells: laws of the divergence, and merged maps by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attention.comparison import (
    Aligned,
    AlignedViews,
    best_heads,
    changes,
    divergence,
    head_divergences,
    no_common_words,
    same_heads,
    sample_rows,
)
from attention.mask import FloatArray
from attention.record import MapRecord
from attention.tokens import TokenRow
from attention.trace import Trace
from attention.view import View
from tests.support.cases import draw_seeds
from tests.support.traces import HEADS, LAYERS, sentence_trace


def shares(seed: int, *shape: int) -> FloatArray:
    found = np.random.default_rng(seed).uniform(size=shape).astype(np.float32)
    rows: FloatArray = found / found.sum(axis=-1, keepdims=True)
    return rows


def numbers(*rows: list[float]) -> FloatArray:
    return np.array(rows, np.float32)


def read(words: str, *maps: FloatArray) -> Trace:
    """Return a trace of whole words with a single map, shape (head, query, key), per layer."""
    pieces = tuple(words.split())
    numbers = tuple(range(len(pieces)))
    row = TokenRow(pieces, numbers, numbers, (0,) * len(pieces), (None,) * len(pieces))
    return sentence_trace(text=words, source=row, parts={"encoder": tuple(MapRecord(one) for one in maps)})


@draw_seeds(10)
def test_a_divergence_is_symmetric_between_0_and_1_and_0_for_the_same(seed: int) -> None:
    left, right = shares(seed, 3, 5) ** 3, shares(seed + 50, 3, 5)
    bits = divergence(left, right)
    np.testing.assert_allclose(bits, divergence(right, left), atol=1e-6)
    assert ((bits > 0) & (bits < 1)).all()
    assert (divergence(left, left) == 0).all()
    np.testing.assert_allclose(divergence(left, right * np.float32(0.3)), bits, atol=1e-5)  # scale is irrelevant


def test_a_divergence_by_hand() -> None:
    # The rows are (1/2, 1/2) and (1, 0): H(3/4, 1/4) - H(1/2, 1/2) / 2 = 0.8113 - 0.5.
    rows = divergence(numbers([0.5, 0.5], [0, 0]), numbers([1, 0], [1, 0]))
    assert rows[0] == pytest.approx(0.8113 - 0.5, abs=1e-4)
    assert np.isnan(rows[1])


LEFT = read("a x b", np.array([[[0.2, 0.5, 0.3], [0.1, 0.8, 0.1], [0.6, 0.0, 0.4]]], np.float32))
RIGHT = read("a b", np.array([[[0.5, 0.5], [0.25, 0.75]]], np.float32))


def test_partners_rows_and_what_is_lost_by_hand() -> None:
    beside = AlignedViews.align(View(LEFT), View(RIGHT))
    assert beside.keys == Aligned((((0, 1), (0, 1)), ((2, 3), (1, 2))))
    weights, lost = beside.maps(0, 0, 0)
    np.testing.assert_allclose(weights, [[0.2, 0.3], [0.6, 0.4]])
    np.testing.assert_allclose(lost, [0.5, 0.0], atol=1e-7)
    weights, lost = beside.maps(1, 0, 0, np.array([1]))
    np.testing.assert_allclose(weights, [[0.25, 0.75]])
    np.testing.assert_allclose(lost, [0.0], atol=1e-7)
    found = changes(beside, np.zeros((1, 1, 2), np.intp))
    expected = divergence(numbers([0.4, 0.6], [0.6, 0.4]), numbers([0.5, 0.5], [0.25, 0.75])).mean()
    assert found.bits[0, 0] == pytest.approx(expected, abs=1e-6)
    assert found.lost[0][0, 0] == pytest.approx(0.25)
    assert (found.rows, found.all_rows, found.most) == (2, 2, (0, 0))
    np.testing.assert_allclose(beside.row(0, 0, 0, (1, 2)), [0.1, 0.8, 0.1])
    np.testing.assert_allclose(beside.row(0, 0, 0, (1, 3)), [0.35, 0.4, 0.25])


def test_a_replaced_word_is_left_out_by_hand() -> None:
    other = read("a X c", np.array([[[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.3, 0.5]]], np.float32))
    beside = AlignedViews.align(View(LEFT), View(other))
    assert len(beside.keys.pairs) == 3  # the replaced word b, c at the end is aligned too
    shared = beside.shared_words()
    assert shared.queries == shared.keys == Aligned((((0, 1), (0, 1)), ((1, 2), (1, 2))))  # x equals X
    found = changes(shared, np.zeros((1, 1, 2), np.intp))
    expected = divergence(numbers([0.2, 0.5], [0.1, 0.8]), numbers([0.1, 0.2], [0.3, 0.3])).mean()
    assert found.bits[0, 0] == pytest.approx(expected, abs=1e-6)
    assert [side[0, 0] for side in found.lost] == pytest.approx([0.2, 0.55])


def test_several_cells_are_one_word_sum_to_it_and_mean_from_it() -> None:
    trace = sentence_trace()  # The tokens are [CLS] play ing chess . [SEP].
    pieces, words = View(trace), View(trace, words=True)
    whole = Aligned((((0, 1), (0, 1)), ((1, 3), (1, 2)), ((3, 4), (2, 3)), ((4, 5), (3, 4)), ((5, 6), (4, 5))))
    beside = AlignedViews(pieces, words, whole, whole)
    for layer, head in np.ndindex(LAYERS, HEADS):
        np.testing.assert_allclose(beside.maps(0, layer, head)[0], words.weights(layer, head), atol=1e-6)
        np.testing.assert_allclose(beside.maps(1, layer, head)[0], words.weights(layer, head), atol=1e-6)


def test_a_text_beside_itself_changes_nothing() -> None:
    view = View(sentence_trace())
    heads = same_heads(view, view)
    assert heads is not None
    found = changes(AlignedViews.align(view, view), heads)
    assert (found.bits == 0).all()
    assert (np.array(found.lost) < 1e-6).all()


def test_some_rows_are_rows_of_the_whole() -> None:
    view = View(sentence_trace())
    beside = AlignedViews.align(view, view)
    rows = np.array([4, 1])
    for layer, head in np.ndindex(LAYERS, HEADS):
        whole, lost = beside.maps(0, layer, head)
        some, some_lost = beside.maps(0, layer, head, rows)
        np.testing.assert_allclose(some, whole[rows], atol=1e-6)
        np.testing.assert_allclose(some_lost, lost[rows], atol=1e-6)


def test_a_long_text_is_compared_over_spread_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attention.comparison.MOST_WORK", 1)
    words = " ".join(f"w{at}" for at in range(40))
    one, other = read(words, shares(1, 2, 40, 40)), read(words, shares(2, 2, 40, 40))
    beside = AlignedViews.align(View(one), View(other))
    rows = sample_rows(beside, 2)
    assert rows is not None
    assert (len(rows), rows[0], rows[-1]) == (16, 0, 39)
    heads = same_heads(beside.left, beside.right)
    assert heads is not None
    found = changes(beside, heads)
    assert (found.rows, found.all_rows) == (16, 40)
    maps = [trace.parts["encoder"][0].weights(1)[rows] for trace in (one, other)]
    assert found.bits[0, 1] == pytest.approx(float(divergence(*maps).mean()), abs=1e-6)


def test_texts_without_a_common_word_cannot_be_compared() -> None:
    beside = AlignedViews.align(View(LEFT), View(read("y z", shares(1, 1, 2, 2))))
    with pytest.raises(ValueError, match=re.escape(no_common_words())):
        changes(beside, np.zeros((1, 1, 2), np.intp))


def test_heads_in_another_order_are_found_again() -> None:
    maps = shares(3, 5, 4, 4)
    left, right = View(read("a b c d", maps[:3], maps[1:4])), View(read("a b c d", maps[[2, 0, 1, 3, 4]]))
    assert same_heads(left, right) is None
    divergences = head_divergences(AlignedViews.align(left, right))
    assert divergences.shape == (6, 5)
    for one, other in np.ndindex(6, 5):
        mine, theirs = left.weights(*divmod(one, 3)), right.weights(0, other)
        assert divergences[one, other] == pytest.approx(float(divergence(mine, theirs).mean()), abs=1e-5)
    found = best_heads(divergences, left, right)
    assert found.tolist() == [[[0, 1], [0, 2], [0, 0]], [[0, 2], [0, 0], [0, 3]]]
