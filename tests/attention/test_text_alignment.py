"""Alignment of two texts: identity, inverse and order as laws, then cases by hand and two tokenizers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from attention.comparison import Aligned, Place, align, by_characters, by_words
from attention.record import MapRecord
from attention.tokens import TokenRow
from attention.trace import Trace
from attention.view import View
from tests.support.cases import draw_seeds, loop_over
from tests.support.traces import sentence_trace


def text(seed: int) -> list[str]:
    """Return up to eight random words of four, so that many are repeated."""
    chosen = np.random.default_rng(seed)
    return [str(word) for word in chosen.choice(list("abcD"), size=int(chosen.integers(0, 9)))]


def read(pieces: Sequence[tuple[str, int | None]], written: str, spans: bool = True) -> Trace:
    """Return a trace of subwords with their word numbers; a number of None marks a special token."""
    places: list[tuple[int, int] | None] = []
    at = 0
    for piece, word in pieces:
        start = written.lower().find(piece, at) if word is not None else -1
        places.append(None if start < 0 or not spans else (start, start + len(piece)))
        at = start + len(piece) if start >= 0 else at
    row = TokenRow(
        tuple(piece for piece, _ in pieces),
        tuple(range(len(pieces))),
        tuple(word for _, word in pieces),
        (0,) * len(pieces),
        tuple(places),
    )
    maps = np.full((1, len(pieces), len(pieces)), 1 / len(pieces), np.float32)
    return sentence_trace(text=written, source=row, parts={"encoder": (MapRecord(maps),)})


def told(left: View, right: View) -> list[tuple[str, str]]:
    """Return the aligned pairs of keys as words."""
    _, keys = align(left, right)
    sides = (left.keys, right.keys)
    return [
        (" ".join(cell.text for cell in sides[0][slice(*one)]), " ".join(cell.text for cell in sides[1][slice(*other)]))
        for one, other in keys.pairs
    ]


@draw_seeds(40)
def test_a_text_beside_itself_is_matched_word_by_word(seed: int) -> None:
    words = text(seed)
    assert by_words(words, words) == [(at, at) for at in range(len(words))]


@draw_seeds(40)
def test_swapping_the_sides_inverts_the_map_and_partners_stand_in_order(seed: int) -> None:
    left, right = text(seed), text(seed + 1000)
    found = by_words(left, right)
    assert by_words(right, left) == [(there, at) for at, there in found]
    assert all(one[0] < other[0] and one[1] < other[1] for one, other in pairwise(found))


@draw_seeds(40)
def test_as_many_words_as_can_be_find_the_same_word(seed: int) -> None:
    left, right = ([word.lower() for word in text(at)] for at in (seed, seed + 1000))

    def most(i: int, j: int) -> int:
        if i == len(left) or j == len(right):
            return 0
        return max(most(i + 1, j), most(i, j + 1), (left[i] == right[j]) + most(i + 1, j + 1))

    assert sum(left[at] == right[there] for at, there in by_words(left, right)) == most(0, 0)


@loop_over(
    ("before", "after", "pairs"),
    [
        ("a b c", "a x c", [(0, 0), (1, 1), (2, 2)]),
        ("a b c", "a b very c", [(0, 0), (1, 1), (2, 3)]),
        ("a b c", "a c", [(0, 0), (2, 1)]),
        ("A b", "x a b", [(0, 1), (1, 2)]),
        ("a b", "c d e", []),
        ("", "a", []),
        ("the nurse called the doctor", "the doctor called the nurse", [(at, at) for at in range(5)]),
        ("it was too tired", "it was much too wide", [(0, 0), (1, 1), (2, 3), (3, 4)]),
    ],
)
def test_words_by_hand(before: str, after: str, pairs: list[tuple[int, int]]) -> None:
    assert by_words(before.split(), after.split()) == pairs


CUTS: list[tuple[list[Place], list[Place]]] = [
    ([(0, 0, 3), (0, 4, 9)], [(0, 0, 3), (0, 4, 6), (0, 6, 9)]),
    ([(0, 0, 2), (0, 2, 5), (0, 5, 6)], [(0, 0, 3), (0, 3, 5), (0, 5, 6)]),
    ([(0, 0, 3), (1, 0, 3)], [(0, 0, 3), (1, 0, 3)]),
    ([(0, 0, 1), (0, 2, 3)], [(0, 2, 3)]),
]


@pytest.mark.parametrize(("left", "right"), CUTS)
def test_two_cuts_of_a_text_are_matched_by_their_characters(left: list[Place], right: list[Place]) -> None:
    found = by_characters(left, right)
    assert by_characters(right, left) == found.swap()
    for one, other in found.pairs:
        assert left[one[0]][0] == right[other[0]][0]
        assert left[one[0]][1] == right[other[0]][1]
        assert left[one[1] - 1][2] == right[other[1] - 1][2]


def test_cuts_by_hand() -> None:
    assert by_characters(*CUTS[1]).pairs == (((0, 2), (0, 2)), ((2, 3), (2, 3)))
    assert by_characters(*CUTS[3]).pairs == (((1, 2), (0, 1)),)


BERT = [("[CLS]", None), ("i", 0), ("didn", 1), ("'", 2), ("t", 3), ("[SEP]", None)]
OTHER = [("i", 0), ("didn'", 1), ("t", 2), ("</s>", None), ("</s>", None)]


def test_two_tokenizers_are_matched_by_characters_and_special_tokens_by_where_they_stand() -> None:
    left, right = View(read(BERT, "I didn't")), View(read(OTHER, "I didn't"))
    assert told(left, right) == [("i", "i"), ("didn '", "didn'"), ("t", "t"), ("[SEP]", "</s> </s>")]
    assert align(right, left)[1] == align(left, right)[1].swap()


def test_tokens_without_places_are_matched_by_their_words() -> None:
    left, right = View(read(BERT, "I didn't", spans=False)), View(read(OTHER, "I didn't", spans=False))
    assert told(left, right) == [("i", "i"), ("t", "t")]


def test_a_word_of_several_pieces_takes_another_s_place_as_a_whole() -> None:
    tired = [("too", 0), ("tired", 1), (".", 2)]
    exhausted = [("too", 0), ("ex", 1), ("haust", 1), ("ed", 1), (".", 2)]
    left, right = View(read(tired, "too tired.")), View(read(exhausted, "too exhausted."))
    assert told(left, right) == [("too", "too"), ("tired", "ex haust ed"), (".", ".")]


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("special", [False, True])
def test_a_view_beside_itself_is_matched_cell_by_cell(words: bool, special: bool) -> None:
    trace = sentence_trace()
    view = View(trace, words=words, special=special)
    again = View(replace(trace, id="1" * 64), words=words, special=special)
    expected = Aligned(tuple(((at, at + 1), (at, at + 1)) for at in range(len(view.keys))))
    assert align(view, again) == (expected, expected)


def test_which_pair_a_cell_is_in() -> None:
    aligned = Aligned((((0, 2), (1, 2)), ((3, 4), (2, 4))))
    assert [aligned.pair_of(0, cell) for cell in range(4)] == [0, 0, None, 1]
    assert [aligned.pair_of(1, cell) for cell in range(4)] == [None, 0, 1, 1]
