"""Permuted word order of a text: tokens that may move, tokens that stay, and the comparison of maps."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from attention.positions import (
    NO_WORDS_TO_SWAP,
    SAME_WORDS,
    differences,
    permute_map,
    shuffle_tokens,
    swap_words,
    word_stretches,
    words,
)
from attention.record import MapRecord
from attention.tokens import TokenRow
from tests.support.cases import draw_seeds, loop_over
from tests.support.traces import SENTENCE, record

# The tokens are [CLS] play ##ing chess . [SEP] no way [SEP].
PAIR = TokenRow(
    pieces=("[CLS]", "play", "ing", "chess", ".", "[SEP]", "no", "way", "[SEP]"),
    ids=(101, 5, 6, 7, 8, 102, 9, 10, 102),
    words=(None, 0, 0, 1, 2, None, 3, 4, None),
    segments=(0, 0, 0, 0, 0, 0, 1, 1, 1),
    spans=(None, (0, 4), (4, 7), (8, 13), (13, 14), None, (0, 2), (3, 6), None),
)
NO_MARKS = TokenRow(("a", "b", "c"), (1, 2, 3), (0, 1, 2), (0, 0, 1), ((0, 1), (2, 3), (0, 1)))


def row(*ids: Any) -> TokenRow:
    """Return a row of single-token words."""
    count = len(ids)
    return TokenRow(tuple("w" * count), ids, tuple(range(count)), (0,) * count, ((0, 1),) * count)


def test_stretches_end_at_special_tokens_and_where_another_text_begins() -> None:
    assert word_stretches(PAIR) == [[(1, 3), (3, 4), (4, 5)], [(6, 7), (7, 8)]]
    assert word_stretches(NO_MARKS) == [[(0, 1), (1, 2)], [(2, 3)]]
    assert words(PAIR) == [(1, 3), (3, 4), (4, 5), (6, 7), (7, 8)]


@draw_seeds(30)
@loop_over("tokens", [SENTENCE, PAIR], ids=["one text", "pair"])
def test_a_shuffle_moves_words_as_wholes_and_only_words(tokens: Any, seed: int) -> None:
    order = shuffle_tokens(tokens, seed)
    assert sorted(order) == list(range(len(tokens)))
    assert order != tuple(range(len(tokens)))
    for place, token in enumerate(order):
        assert tokens.special[place] == tokens.special[token]
        assert not tokens.special[place] or place == token
        assert tokens.segments[place] == tokens.segments[token]
    assert order.index(2) == order.index(1) + 1, "play and ing stay together"
    assert shuffle_tokens(tokens, seed) == order


def test_another_seed_gives_another_order_and_all_orders_come_up() -> None:
    assert len({shuffle_tokens(SENTENCE, seed) for seed in range(200)}) == 3 * 2 - 1


def test_a_link_s_seed_means_the_same_order_for_ever() -> None:
    assert shuffle_tokens(row(*range(12)), 7) == (5, 2, 6, 0, 1, 9, 4, 8, 10, 3, 11, 7)


@loop_over("tokens", [row(5), row(5, 5, 5)], ids=["one word", "one word repeated"])
def test_words_that_read_alike_in_any_order(tokens: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(NO_WORDS_TO_SWAP)):
        shuffle_tokens(tokens, 1)


def test_equal_words_among_others_are_shuffled_to_another_reading() -> None:
    tokens = row(5, 5, 5, 5, 6)
    for seed in range(20):
        assert [tokens.ids[at] for at in shuffle_tokens(tokens, seed)] != list(tokens.ids)


def test_swapped_words_by_hand() -> None:
    assert swap_words(PAIR, 0, 2) == (0, 4, 3, 1, 2, 5, 6, 7, 8)
    assert swap_words(PAIR, 2, 0) == swap_words(PAIR, 0, 2)
    assert swap_words(PAIR, 3, 4) == (0, 1, 2, 3, 4, 5, 7, 6, 8)


@loop_over(
    ("first", "second", "said"),
    [(1, 1, "words are 0 to 4"), (0, 5, "words are 0 to 4"), (0, 3, "different texts")],
)
def test_words_that_cannot_be_swapped(first: int, second: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        swap_words(PAIR, first, second)


def test_equal_words_are_not_swapped() -> None:
    assert swap_words(row(5, 6, 5), 0, 1) == (1, 0, 2)
    with pytest.raises(ValueError, match=re.escape(SAME_WORDS)):
        swap_words(row(5, 6, 5), 0, 2)


def test_differences_by_hand() -> None:
    """The first head's map is permuted with the tokens; the map of the second head stays as it was."""
    order = (2, 0, 1)
    mine = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.0, 0.4, 0.6]], np.float32)
    followed = np.array([[0.6, 0.0, 0.4], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]], np.float32)
    np.testing.assert_array_equal(permute_map(mine, order), followed)
    found = differences([MapRecord(np.stack([mine, mine]))], [MapRecord(np.stack([followed, mine]))], order)
    assert found.shape == (1, 2)
    assert found.tolist() == [[0.0, pytest.approx(0.3)]]  # 0.3 against 0.0 in the first row


def test_attention_of_moved_vectors_is_the_moved_attention() -> None:
    """Without a model: queries and keys that are permuted together permute the map and change nothing else."""
    here = record(queries=6, keys=6)
    order = [3, 0, 5, 1, 4, 2]
    there = record(queries=6, keys=6, query=here.query[:, order], key=here.key[:, order])
    assert differences([here], [there], order).max() < 1e-6
    assert differences([here], [here], order).max() > 0.1
