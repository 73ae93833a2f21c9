"""The excess of a link over the mean weight from other words to the same key: laws and a case by hand."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from attention.excess import ColumnMeans, excess_map, visible_word_pairs
from attention.mask import FloatArray, Mask
from attention.measures import summarize_heads
from attention.record import MapRecord
from attention.trace import Trace
from attention.view import View
from tests.support.traces import HEADS, LAYERS, record, sentence_trace, translation_trace

WORDS = (1, 2, 3, 4)  # The positions of the words in "[CLS] play ing chess . [SEP]".


def crowd_of(view: View) -> ColumnMeans:
    return summarize_heads(view, 48).crowd


def naive(view: View, layer: int, head: int, query: int, key: int) -> float:
    """Return the mean weight of the other words for a key in a plain loop; NaN if there is no other word."""
    rows = np.arange(len(view.queries))
    counted = visible_word_pairs(view, layer, rows)
    weights = view.weights(layer, head)
    others = [weights[row, key] for row in rows if counted[row, key] and row != query]
    return float(np.mean(others)) if others else float("nan")


def maps_trace(maps: FloatArray) -> Trace:
    return sentence_trace(parts={"encoder": (MapRecord(maps),)})


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("special", [False, True])
def test_what_others_give_is_their_mean(words: bool, special: bool) -> None:
    view = View(sentence_trace(), words=words, special=special)
    crowd = crowd_of(view)
    for query in range(len(view.queries)):
        usual = crowd.usual_row(view, query, view.rows(query))
        expected = [
            [[naive(view, layer, head, query, key) for key in range(len(view.keys))] for head in range(HEADS)]
            for layer in range(LAYERS)
        ]
        np.testing.assert_allclose(usual, expected, atol=1e-6)


def test_special_tokens_and_the_key_s_own_row_are_no_other_words() -> None:
    counted = visible_word_pairs(View(sentence_trace()), 0, np.arange(6))
    expected = np.zeros((6, 6), dtype=bool)
    for row in WORDS:
        expected[row] = True
        expected[row, row] = False
    np.testing.assert_array_equal(counted, expected)


def test_in_a_decoder_only_those_that_come_after_count() -> None:
    causal = tuple(record(6, 6, seed=at, mask=Mask(6, 6, causal=True)) for at in range(LAYERS))
    view = View(sentence_trace(parts={"decoder": causal}))
    usual = crowd_of(view).usual_row(view, 3, view.rows(3))
    weights = view.weights(1, 2)
    assert usual[1, 2, 1] == pytest.approx((weights[2, 1] + weights[4, 1]) / 2, abs=1e-6)
    assert usual[1, 2, 3] == pytest.approx(weights[4, 3], abs=1e-6)
    assert np.isnan(usual[:, :, 4]).all(), "nobody else may look at the last word"


def test_maps_of_a_decoder_without_vectors_are_causal_too() -> None:
    maps = np.tril(np.ones((HEADS, 6, 6), np.float32))
    maps /= maps.sum(axis=2, keepdims=True)
    view = View(sentence_trace(parts={"decoder": (MapRecord(maps),)}))
    assert np.isnan(crowd_of(view).usual_row(view, 3, view.rows(3))[0, :, 4]).all()


def test_columns_are_rows_seen_from_the_other_side() -> None:
    view = View(sentence_trace())
    crowd = crowd_of(view)
    rows = np.array([crowd.usual_row(view, query, view.rows(query)) for query in range(6)])
    for key in range(6):
        np.testing.assert_allclose(
            crowd.usual_column(view, key, view.columns(key)), np.moveaxis(rows[..., key], 0, 2), atol=1e-6
        )


def test_of_two_texts_every_word_of_the_one_counts() -> None:
    view = View(translation_trace(), part="cross")
    usual = crowd_of(view).usual_row(view, 0, view.rows(0))
    weights = view.weights(0, 1)
    np.testing.assert_allclose(usual[0, 1], weights[1], atol=1e-6)  # In "<s> jouer </s>" only a single word is counted.


def test_a_head_whose_rows_are_all_the_same_has_no_excess() -> None:
    row = np.random.default_rng(0).dirichlet(np.ones(6)).astype(np.float32)
    view = View(maps_trace(np.tile(row, (HEADS, 6, 1))))
    for query in range(6):
        rows = view.rows(query)
        np.testing.assert_allclose(rows - crowd_of(view).usual_row(view, query, rows), 0, atol=1e-6)
    excess = excess_map(view.weights(0, 0), visible_word_pairs(view, 0, np.arange(6)))
    np.testing.assert_allclose(excess, 0, atol=1e-6)


def test_weight_shifted_between_other_keys_leaves_a_link_alone() -> None:
    maps = np.random.default_rng(1).dirichlet(np.ones(6), (HEADS, 6)).astype(np.float32)
    moved = maps.copy()
    moved[..., 4] += moved[..., 5] / 2
    moved[..., 5] /= 2
    before, after = (View(maps_trace(each)) for each in (maps, moved))
    one, other = (crowd_of(view).usual_row(view, 2, view.rows(2)) for view in (before, after))
    np.testing.assert_allclose(one[..., :4], other[..., :4], atol=1e-6)
    assert np.abs(one[..., 4] - other[..., 4]).max() > 1e-3


def test_permuting_the_words_permutes_the_excess() -> None:
    maps = np.random.default_rng(2).dirichlet(np.ones(6), (1, 6)).astype(np.float32)
    order = np.array([0, 3, 1, 4, 2, 5])
    view, turned = View(maps_trace(maps)), View(maps_trace(maps[:, order][:, :, order]))
    counted = visible_word_pairs(view, 0, np.arange(6))
    whole = excess_map(maps[0], counted)
    np.testing.assert_allclose(excess_map(turned.weights(0, 0), counted), whole[order][:, order], atol=1e-6)


def test_in_a_long_text_the_rows_that_were_read_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attention.view.SAMPLED_ABOVE", 4)
    view = View(sentence_trace())
    whole = replace(crowd_of(view), rows=np.array([1, 3]))
    sums = np.array(
        [[view.weights(layer, head)[[1, 3]].sum(axis=0) for head in range(HEADS)] for layer in range(LAYERS)]
    )
    part = replace(whole, sums=sums, counts=np.full((LAYERS, 6), 2))
    usual = part.usual_row(view, 2, view.rows(2))
    np.testing.assert_allclose(usual[..., 0], sums[..., 0] / 2, atol=1e-6)  # row 2 is not part of the sums
    usual = part.usual_row(view, 3, view.rows(3))
    np.testing.assert_allclose(usual[1, 2, 0], view.weights(1, 2)[1, 0], atol=1e-6)


def test_what_a_survey_keeps_does_not_keep_the_trace() -> None:
    trace = sentence_trace()
    kept, gone = summarize_heads(View(trace), 48), weakref.ref(trace)
    del trace
    gc.collect()
    assert gone() is None
    assert kept.nbytes >= kept.thumbnails.nbytes + kept.crowd.sums.nbytes
