"""Selection of tokens for masking, and their replacements."""

from __future__ import annotations

import numpy as np
import pytest

from training.batches import choose, mask

MASK = 4
ORDINARY = np.arange(5, 1_000)


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(3)


def test_shares_are_eighty_ten_and_ten(random: np.random.Generator) -> None:
    pieces = random.integers(5, 1_000, (200, 250))
    masked = mask(pieces, np.ones(pieces.shape, bool), MASK, ORDINARY, random)
    shares = np.bincount(masked.shown) / pieces.size
    assert np.abs(shares - [0.8, 0.1, 0.1]).max() < 0.006  # The limit is four standard deviations of 50,000 draws.
    read = masked.pieces.reshape(-1)
    assert (read[masked.shown == 0] == MASK).all()
    assert (read[masked.shown == 2] == masked.labels[masked.shown == 2]).all()
    changed = read[masked.shown == 1] != masked.labels[masked.shown == 1]
    assert changed.mean() > 0.99  # A random token equals the original once in 995 draws.
    assert np.isin(read[masked.shown == 1], ORDINARY).all()


def test_labels_are_what_stood_there_and_nothing_else_changes(random: np.random.Generator) -> None:
    pieces = random.integers(5, 1_000, (3, 7))
    chosen = random.random((3, 7)) < 0.4
    masked = mask(pieces, chosen, MASK, ORDINARY, random)
    assert masked.labels.tolist() == pieces[chosen].tolist()
    assert masked.places.tolist() == np.flatnonzero(chosen).tolist()
    assert (masked.pieces[~chosen] == pieces[~chosen]).all()


def test_only_candidates_are_chosen_and_as_many_as_asked(random: np.random.Generator) -> None:
    candidates = random.random((50, 101)) < 0.7
    words = np.arange(101) + np.zeros((50, 1), np.int64)
    chosen = choose(candidates, words, 0.15, random)
    assert not (chosen & ~candidates).any()
    assert chosen.sum(axis=1).tolist() == np.rint(0.15 * candidates.sum(axis=1)).tolist()


def test_a_row_of_one_piece_is_asked_for_it_and_an_empty_row_for_none(random: np.random.Generator) -> None:
    candidates = np.array([[True, False], [False, False]])
    assert choose(candidates, np.array([[0, 1], [0, 1]]), 0.15, random).tolist() == [[True, False], [False, False]]


def test_every_place_is_as_likely_as_any_other(random: np.random.Generator) -> None:
    candidates = np.ones((4_000, 10), bool)
    words = np.arange(10) + np.zeros((4_000, 1), np.int64)
    assert np.abs(choose(candidates, words, 0.2, random).mean(axis=0) - 0.2).max() < 0.026


def test_whole_words_are_chosen_whole(random: np.random.Generator) -> None:
    words = np.cumsum(random.random((40, 60)) < 0.5, axis=1, dtype=np.int64)
    chosen = choose(np.ones(words.shape, bool), words, 0.3, random)
    assert chosen.any()
    for row in range(40):
        for word in np.unique(words[row]):
            assert len(set(chosen[row, words[row] == word].tolist())) == 1
    assert (chosen.sum(axis=1) <= 18).all()
