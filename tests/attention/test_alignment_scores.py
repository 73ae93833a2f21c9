"""Alignment links of heads against hand-drawn links: laws, cases by hand, and counts of whole sets."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from attention.alignment import (
    NOWHERE,
    HandAligned,
    by_chance,
    by_diagonal,
    count,
    strongest_sources,
    total,
)
from attention.record import MapRecord, Unavailable
from tests.attention.test_cross_attention import TARGET, translation
from tests.support.cases import draw_seeds
from tests.support.traces import SENTENCE, sentence_trace


def pair(sources: Any, targets: Any, sure: Any, possible: Any = ()) -> Any:
    """Return a hand-aligned pair of texts with single-letter words."""
    reads, writes = (tuple((2 * at, 2 * at + 1) for at in range(count)) for count in (sources, targets))
    return HandAligned("a " * sources, "b " * targets, reads, writes, frozenset(sure), frozenset(possible))


def random_pair(seed: int) -> Any:
    """Return a hand-aligned pair with random links and lengths, and random links of a head."""
    rng = np.random.default_rng(seed)
    sources, targets = int(rng.integers(2, 6)), int(rng.integers(2, 7))
    cells = list(product(range(sources), range(targets)))
    kinds = rng.integers(0, 3, len(cells))
    sure = [cell for cell, kind in zip(cells, kinds, strict=True) if kind == 1] or cells[:1]
    possible = [cell for cell, kind in zip(cells, kinds, strict=True) if kind == 2 and cell not in sure]
    return pair(sources, targets, sure, possible), rng.integers(-1, sources, targets)


@draw_seeds(6)
def test_counts_are_those_of_sets(seed: int) -> None:
    hand, links = random_pair(seed)
    drawn = {(int(source), target) for target, source in enumerate(links) if source != NOWHERE}
    allowed = hand.sure | hand.possible
    counts = count(hand, links)
    assert [counts.links, counts.sure] == [len(drawn), len(hand.sure)]
    assert [counts.in_sure, counts.in_allowed] == [len(drawn & hand.sure), len(drawn & allowed)]
    assert counts.words == len({target for _, target in allowed})
    error = 1 - (len(drawn & hand.sure) + len(drawn & allowed)) / (len(drawn) + len(hand.sure))
    np.testing.assert_allclose(counts.error, error)
    np.testing.assert_allclose(counts.share, len(drawn & allowed) / counts.words)


def test_the_hand_drawn_links_themselves_are_perfect() -> None:
    hand = pair(3, 4, {(0, 0), (2, 1), (1, 2)}, {(0, 3)})
    counts = count(hand, np.array([0, 2, 1, 0]))
    assert [counts.share, counts.error] == [1, 0]


def test_a_word_that_people_left_without_a_link_costs_error_but_no_share() -> None:
    hand = pair(2, 3, {(0, 0), (1, 1)})
    with_link, without = count(hand, np.array([0, 1, 1])), count(hand, np.array([0, 1, NOWHERE]))
    assert [with_link.share, without.share] == [1, 1]
    assert without.error == 0
    np.testing.assert_allclose(with_link.error, 1 - 4 / 5)


def test_a_possible_link_is_right_but_is_not_missed() -> None:
    hand = pair(2, 2, {(0, 0)}, {(1, 1)})
    np.testing.assert_allclose(count(hand, np.array([0, 1])).error, 1 - 3 / 3)
    np.testing.assert_allclose(count(hand, np.array([0, NOWHERE])).error, 0)
    np.testing.assert_allclose(count(hand, np.array([NOWHERE, 1])).error, 1 - 1 / 2)


@pytest.mark.parametrize("seed", range(4))
def test_chance_is_the_mean_over_every_way_to_link(seed: int) -> None:
    hand, links = random_pair(seed)
    every = [np.array(way) for way in product(range(len(hand.source_words)), repeat=len(links))]
    shares = [count(hand, way).share for way in every]
    errors = [count(hand, way).error for way in every]
    np.testing.assert_allclose(by_chance(hand).share, np.mean(shares))
    np.testing.assert_allclose(by_chance(hand).error, np.mean(errors))


def test_the_diagonal_is_perfect_word_for_word_and_not_when_two_change_places() -> None:
    straight = pair(4, 4, {(at, at) for at in range(4)})
    crossed = pair(4, 4, {(0, 0), (2, 1), (1, 2), (3, 3)})
    assert [by_diagonal(straight).share, by_diagonal(straight).error] == [1, 0]
    assert [by_diagonal(crossed).share, by_diagonal(crossed).error] == [0.5, 0.5]


def test_counts_of_sentences_add_up_and_weigh_by_words() -> None:
    both = total(
        [count(pair(2, 1, {(0, 0)}), np.array([0])), count(pair(2, 3, {(0, 0), (1, 1), (1, 2)}), np.zeros(3, int))]
    )
    np.testing.assert_allclose(both.share, 2 / 4)
    np.testing.assert_allclose(both.error, 1 - (2 + 2) / (4 + 4))


# The annotators' words of "playing chess." and "jouer aux échecs".
HAND = HandAligned(
    "playing chess.",
    "jouer aux échecs",
    ((0, 7), (8, 13), (13, 14)),
    ((0, 5), (6, 9), (10, 16)),
    frozenset({(0, 0), (1, 2)}),
    frozenset({(1, 1)}),
)


def maps(*rows: Any) -> Any:
    """Return the record of three heads: ``rows`` for head 1; heads 0 and 2 attend to the first token only."""
    whole = np.zeros((3, 5, 6), np.float32)
    whole[:, :, 0] = 1
    whole[1] = rows
    return (MapRecord(whole),)


def test_the_strongest_word_is_read_where_each_word_is_written() -> None:
    """Steps 0 and 1 write "jouer", step 2 "aux", step 3 "échecs"; the columns are [CLS] play ing chess . [SEP]."""
    cross = maps(
        [0.0, 0.3, 0.3, 0.4, 0.0, 0.0],  # "play" and "ing" together get more than "chess".
        [0.0, 0.1, 0.3, 0.45, 0.0, 0.15],  # The mean of both steps is 0.5 for "playing" and 0.425 for "chess".
        [0.9, 0.0, 0.0, 0.0, 0.1, 0.0],  # Most of the attention goes to [CLS], which is not a word.
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
    )
    found = strongest_sources(translation(cross), HAND)
    assert found.shape == (2, 1, 3, 3)  # The axes are (reading, layer, head, target word).
    assert found[0, 0, 1].tolist() == [0, 2, 1]
    assert found[1, 0, 1].tolist() == [1, 1, 0]  # "jouer", steps 1 and 2: "playing" 0.2, "chess" 0.225, "." 0.05
    assert found[0, 0, 0].tolist() == [NOWHERE] * 3, "a head that looks at special tokens only links nothing"


def test_every_head_and_both_readings_are_counted_at_once() -> None:
    found = strongest_sources(translation(), HAND)
    counts = count(HAND, found)
    assert counts.share.shape == (2, 1, 3)
    for place in np.ndindex(2, 1, 3):
        np.testing.assert_array_equal(counts.share[place], count(HAND, found[place]).share)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\b2-0\b.*0 to 1.*0 to 1"):
        pair(2, 2, {(2, 0)})
    with pytest.raises(ValueError, match="without links"):
        pair(2, 2, set())
    with pytest.raises(Unavailable, match="no translation"):
        strongest_sources(sentence_trace(source=SENTENCE), HAND)
    with pytest.raises(Unavailable, match="part “cross”"):
        strongest_sources(sentence_trace(target=TARGET), HAND)
