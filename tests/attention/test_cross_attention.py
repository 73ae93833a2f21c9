"""Cross-attention as an alignment: row conventions, merged words and special tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.alignment import END, Alignment, CrossRowConvention, alignment, diagonal, output_tokens, read
from attention.record import MapRecord, Unavailable
from attention.tokens import TokenRow
from attention.trace import Trace
from attention.view import DisplayToken
from tests.support.traces import SENTENCE, record, sentence_trace

# The decoder's input is "<s> jou er aux échecs" and its output "jouer aux échecs".
TARGET = TokenRow(
    pieces=("<s>", "jou", "er", "aux", "échecs"),
    ids=(0, 11, 12, 13, 14),
    words=(None, 0, 0, 1, 2),
    segments=(0,) * 5,
    spans=(None, (0, 3), (3, 5), (6, 9), (10, 16)),
)
LAYER, HEAD = 0, 2


def translation(cross: Any = None) -> Trace:
    """Return a trace of five steps over the six tokens of "playing chess."; all stacks differ in shape."""
    parts = {
        "encoder": (record(6, 6, seed=1),),
        "decoder": (record(5, 5, seed=2),),
        "cross": cross or (record(5, 6, seed=3),),
    }
    return sentence_trace(target=TARGET, target_text="jouer aux échecs", parts=parts)


def texts(cells: Any) -> list[Any]:
    return [cell.text for cell in cells]


def test_a_step_is_named_by_the_token_that_it_writes() -> None:
    trace = translation()
    found = alignment(trace, LAYER, HEAD, by_words=False)
    assert texts(found.target) == ["jou", "er", "aux", "échecs", END]
    assert texts(found.source) == list(SENTENCE.pieces)
    np.testing.assert_array_equal(found.weights, trace.weights(LAYER, HEAD, "cross"))


def test_read_at_its_own_place_a_token_has_the_row_of_the_next_step() -> None:
    """Rows move down by one token: the row read at "er" is the row that wrote "aux"."""
    now = alignment(translation(), LAYER, HEAD, by_words=False)
    late = alignment(translation(), LAYER, HEAD, by_words=False, read_at=CrossRowConvention.OWN)
    assert texts(late.target) == ["<s>", "jou", "er", "aux", "échecs"]
    for token in ("jou", "er", "aux"):
        at = texts(late.target).index(token)
        np.testing.assert_array_equal(late.weights[at], now.weights[at])
        assert texts(now.target)[at] != token


@pytest.mark.parametrize("read_at", list(CrossRowConvention))
@pytest.mark.parametrize("by_words", [False, True])
def test_rows_sum_to_one(read_at: Any, by_words: bool) -> None:
    found = alignment(translation(), LAYER, HEAD, by_words, read_at)
    assert found.weights.shape == (len(found.target), len(found.source))
    np.testing.assert_allclose(found.weights.sum(axis=1), 1, atol=1e-6)


def test_words_are_means_of_the_steps_that_write_them_and_sums_of_the_pieces_looked_at() -> None:
    plain = translation().weights(LAYER, HEAD, "cross")
    found = alignment(translation(), LAYER, HEAD, by_words=True)
    assert texts(found.target) == ["jouer", "aux", "échecs", END]
    assert texts(found.source) == ["[CLS]", "playing", "chess", ".", "[SEP]"]
    jouer = plain[[0, 1]].mean(axis=0)  # Steps 0 and 1 write the two subwords of "jouer".
    by_hand = [jouer[0], jouer[1] + jouer[2], jouer[3], jouer[4], jouer[5]]
    np.testing.assert_allclose(found.weights[0], by_hand, atol=1e-6)
    np.testing.assert_allclose(found.weights[1], [*plain[2, :1], plain[2, 1:3].sum(), *plain[2, 3:]], atol=1e-6)


def test_special_tokens_that_are_left_out_take_their_share_with_them() -> None:
    whole = alignment(translation(), LAYER, HEAD, by_words=True)
    found = alignment(translation(), LAYER, HEAD, by_words=True, special=False)
    assert texts(found.target) == ["jouer", "aux", "échecs"]
    assert texts(found.source) == ["playing", "chess", "."]
    np.testing.assert_allclose(found.weights, whole.weights[:3, 1:4], atol=1e-6)


def test_the_strongest_is_a_word() -> None:
    cells = tuple(DisplayToken(text, special, 0, None if special else 0, (i, i + 1))
                  for i, (text, special) in enumerate([("a", False), ("b", False), ("</s>", True)]))  # fmt: skip
    weights = np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0, 0, 1]], np.float32)
    found = Alignment(weights, cells, cells, CrossRowConvention.WRITING)
    assert [found.strongest(row) for row in range(3)] == [1, 0, None]
    only = Alignment(weights[:, 2:], cells, cells[2:], CrossRowConvention.WRITING)
    assert only.strongest(0) is None


def test_finished_maps_will_do() -> None:
    maps = np.zeros((3, 5, 6), np.float32)
    maps[:, np.arange(5), [1, 2, 3, 4, 5]] = 1
    found = alignment(translation((MapRecord(maps),)), 0, 1, by_words=False)
    assert [found.strongest(row) for row in range(5)] == [1, 2, 3, 4, None]


@pytest.mark.parametrize("read_at", list(CrossRowConvention))
def test_a_trace_without_cross_attention_is_told_so(read_at: Any) -> None:
    with pytest.raises(Unavailable, match=r"^tiny .*\bcross-"):
        read(sentence_trace(), read_at)


def test_what_was_moved_has_a_place_for_everything() -> None:
    moved = output_tokens(TARGET)
    assert (moved.pieces, moved.words) == (("jou", "er", "aux", "échecs", END), (0, 0, 1, 2, None))
    assert moved.spans == ((0, 3), (3, 5), (6, 9), (10, 16), None)


def test_the_diagonal_goes_from_the_first_to_the_last() -> None:
    assert diagonal(4, 4) == [0, 1, 2, 3]
    assert diagonal(5, 2) == [0, 0, 1, 1, 1]
    assert diagonal(1, 5) == [2]
    assert diagonal(0, 3) == []
