"""The positional prior of heads: means counted by hand, and its separation from attention to words."""

from __future__ import annotations

import numpy as np
import pytest

from attention.excess import FIRST, PLACES, REACH, SPECIAL, PositionalPrior, places, positional_prior
from attention.mask import FloatArray, Mask
from attention.record import MapRecord
from attention.trace import Trace
from attention.view import View
from tests.support.traces import HEADS, LAYERS, SENTENCE, record, sentence_trace, translation_trace

ITSELF = REACH + 1


def before(size: int = 6) -> FloatArray:
    """Return the map of a previous-token head; the first token attends to itself."""
    maps = np.zeros((1, size, size), np.float32)
    maps[0, np.arange(1, size), np.arange(size - 1)] = 1
    maps[0, 0, 0] = 1
    return maps


def of_maps(maps: FloatArray) -> Trace:
    return sentence_trace(parts={"encoder": (MapRecord(maps),)})


def test_places_are_distances_the_first_token_and_special_ones() -> None:
    found = places(SENTENCE, np.arange(6))
    assert found[2].tolist() == [FIRST, ITSELF - 1, ITSELF, ITSELF + 1, ITSELF + 2, SPECIAL]
    assert found[0].tolist() == [ITSELF, *range(ITSELF + 1, ITSELF + 5), SPECIAL], "the first is itself to itself"
    assert found[5, 5] == ITSELF
    far = places(SENTENCE, np.array([40]))
    assert far[0].tolist() == [FIRST, 0, 0, 0, 0, SPECIAL]


def test_across_two_texts_the_first_word_is_a_distance() -> None:
    trace = translation_trace()
    _, keys = trace.token_rows("decoder")
    assert places(keys, np.array([1]), crosses=True)[0, 0] == FIRST, "<s> is special"
    bare = sentence_trace().source.__class__(("a", "b"), (1, 2), (0, 1), (0, 0), ((0, 1), (2, 3)))
    assert places(bare, np.array([1]), crosses=True)[0].tolist() == [ITSELF - 1, ITSELF]
    assert places(bare, np.array([1]))[0].tolist() == [FIRST, ITSELF]


def test_means_are_counted_by_hand() -> None:
    trace = sentence_trace()
    found = positional_prior([trace]).means
    weights = trace.weights(1, 2)
    rows = (1, 2, 3, 4)  # These rows are words; special tokens do not count as queries.
    assert found.shape == (LAYERS, HEADS, PLACES)
    assert found[1, 2, ITSELF] == pytest.approx(np.mean([weights[row, row] for row in rows]), abs=1e-6)
    assert found[1, 2, ITSELF - 1] == pytest.approx(np.mean([weights[row, row - 1] for row in (2, 3, 4)]), abs=1e-6)
    assert found[1, 2, FIRST] == pytest.approx(np.mean([weights[row, 0] for row in rows]), abs=1e-6)
    assert found[1, 2, SPECIAL] == pytest.approx(np.mean([weights[row, 5] for row in rows]), abs=1e-6)
    assert np.isnan(found[1, 2, ITSELF + 4]), "no word has another so far on"


def test_texts_are_taken_together() -> None:
    one, other = sentence_trace(), of_maps(np.repeat(before(), HEADS, axis=0))
    both = sentence_trace(parts={"encoder": (one.records()[0],)})
    found = positional_prior([both, other]).means[0, 1]
    alone = [positional_prior([each]).means[0, 1] for each in (both, other)]
    assert found[ITSELF - 1] == pytest.approx((alone[0][ITSELF - 1] + alone[1][ITSELF - 1]) / 2, abs=1e-6)


def test_what_may_not_be_looked_at_is_no_place() -> None:
    causal = tuple(record(6, 6, seed=at, mask=Mask(6, 6, causal=True)) for at in range(LAYERS))
    found = positional_prior([sentence_trace(parts={"decoder": causal})]).means
    assert np.isnan(found[..., ITSELF + 1 : FIRST]).all()
    assert np.isnan(found[..., SPECIAL]).all(), "the only other special token comes last"


def test_a_head_of_places_is_told_from_a_head_of_words() -> None:
    maps = np.concatenate([before(), np.full((1, 6, 6), 1 / 6, np.float32)])
    found = positional_prior([of_maps(maps)])
    assert found.positional.tolist() == [[True, False]]
    sink = np.zeros((1, 6, 6), np.float32)
    sink[..., 0] = 1
    assert not positional_prior([of_maps(sink)]).positional.any(), (
        "a head that rests on [CLS] may tell words apart with the rest"
    )


def test_a_map_of_places_only_is_its_habit() -> None:
    view = View(of_maps(before()))
    found = positional_prior([view.trace])
    for query in (2, 3, 4):
        words = slice(1, 5)  # The first word attends to [CLS], so the first position has a prior of its own.
        np.testing.assert_allclose(found.row(view, query)[..., words], view.rows(query)[..., words], atol=1e-6)


def test_a_word_is_the_sum_over_its_pieces_seen_from_the_mean_of_the_other_s() -> None:
    trace = sentence_trace()
    found = positional_prior([trace])
    pieces, words = View(trace), View(trace, words=True)  # [CLS] playing chess . [SEP]
    by_piece = found.row(pieces, 3)
    np.testing.assert_allclose(found.row(words, 2)[..., 1], by_piece[..., 1] + by_piece[..., 2], atol=1e-6)
    mean = (found.row(pieces, 1) + found.row(pieces, 2)) / 2
    np.testing.assert_allclose(found.row(words, 1)[..., 2], mean[..., 3], atol=1e-6)
    for view in (pieces, words):
        for query in range(len(view.queries)):
            row = [found.link(view, 1, 2, query, key) for key in range(len(view.keys))]
            np.testing.assert_allclose(row, found.row(view, query)[1, 2], atol=1e-6)


def test_a_place_that_never_came_is_no_doubt() -> None:
    view = View(sentence_trace())
    nothing = PositionalPrior(np.full((LAYERS, HEADS, PLACES), np.nan, np.float32))
    assert not nothing.row(view, 2).any()
    assert not nothing.positional.any()
