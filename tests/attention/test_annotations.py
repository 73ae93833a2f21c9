"""Annotated links that heads find: laws on random maps, and small cases by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.annotations import AnnotatedText, Layout, Link, between_units, candidate_weights, membership
from attention.tokens import TokenRow
from tests.support.cases import loop_over

# The text is "[CLS] play ##ing chess tires us [SEP]".
ROW = TokenRow(
    pieces=("[CLS]", "play", "ing", "chess", "tires", "us", "[SEP]"),
    ids=(101, 5, 6, 7, 8, 9, 102),
    words=(None, 0, 0, 1, 2, 3, None),
    segments=(0,) * 7,
    spans=(None, (0, 4), (4, 7), (8, 13), (14, 19), (20, 22), None),
)
TEXT = "playing chess tires us"
WORDS = ((0, 7), (8, 13), (14, 19), (20, 22))
HEADS = 3


def item(*links: Link) -> AnnotatedText:
    return AnnotatedText(TEXT, WORDS, links)


def maps(texts: int = 1, heads: int = HEADS, size: int = 7, seed: int = 0) -> np.ndarray:
    scores = np.random.default_rng(seed).standard_normal((texts, heads, size, size)) * 3
    weights = np.exp(scores)
    shares: np.ndarray = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
    return shares


def by_hand(weights: np.ndarray, row: TokenRow, units: Any, link: Link, direction: int) -> bool:
    """Return True if a head finds the link, by the rule of arXiv:1906.04341 written as loops."""
    pieces = [np.flatnonzero(mine) for mine in membership(row, units)]

    def look(one: int, other: int) -> float:
        return float(np.mean([sum(float(weights[q, k]) for k in pieces[other]) for q in pieces[one]]))

    values = [look(link.source, at) if direction == 0 else look(at, link.source) for at in range(len(units))]
    values[link.source] = -1
    return int(np.argmax(values)) == link.target


def test_pieces_belong_to_the_units_they_share_characters_with() -> None:
    assert membership(ROW, WORDS).tolist()[0] == [False, True, True, False, False, False, False]
    assert membership(ROW, [(8, 19)]).tolist() == [[False, False, False, True, True, False, False]]
    assert membership(ROW, WORDS).sum() == 5  # Special tokens belong to no unit.


def test_a_piece_without_a_place_goes_with_its_word() -> None:
    row = TokenRow(("▁", "a", "b", "?"), (1, 2, 3, 4), (0, 0, 1, 1), (0,) * 4, (None, (0, 1), (2, 3), None))
    assert membership(row, [(0, 1), (2, 3)]).tolist() == [[True, True, False, False], [False, False, True, True]]


def test_words_are_summed_to_and_averaged_from() -> None:
    weights = np.zeros((1, 1, 7, 7), np.float32)
    weights[0, 0, 1, [1, 2, 3]] = 0.1, 0.2, 0.7
    weights[0, 0, 2, [1, 2, 3, 6]] = 0.3, 0.1, 0.1, 0.5
    weights[0, 0, 3, [1, 2]] = 0.25, 0.5
    between = between_units(weights, membership(ROW, WORDS)[None])[0, 0]
    np.testing.assert_allclose(between[0], [0.35, 0.4, 0, 0], atol=1e-6)
    np.testing.assert_allclose(between[1], [0.75, 0, 0, 0], atol=1e-6)


def test_found_equals_the_rule_in_loops() -> None:
    links = [Link("r", source, target) for source in range(4) for target in range(4) if source != target]
    weights = maps()
    found = Layout.from_items([item(*links)], [ROW]).find_hits(weights)
    assert found.shape == (12, 2, HEADS)
    for at, link in enumerate(links):
        for direction in range(2):
            for head in range(HEADS):
                expected = by_hand(weights[0, head], ROW, WORDS, link, direction)
                assert found[at, direction, head] == expected


def test_every_source_finds_exactly_one_of_all_possible_targets() -> None:
    for source in range(4):
        links = [Link("r", source, target) for target in range(4) if target != source]
        found = Layout.from_items([item(*links)], [ROW]).find_hits(maps(seed=source))
        assert (found.sum(axis=0) == 1).all()


def test_a_batch_equals_its_items_one_by_one_whatever_stands_in_the_padding() -> None:
    short = TokenRow(ROW.pieces[:4], ROW.ids[:4], ROW.words[:4], ROW.segments[:4], ROW.spans[:4])
    small = AnnotatedText("playing chess", WORDS[:2], (Link("r", 0, 1), Link("r", 1, 0)))
    items, rows = [item(Link("a", 0, 3), Link("b", 2, 1)), small], [ROW, short]
    both = maps(2, size=9)  # The maps have two rows and columns of padding, and more for the short text.
    together = Layout.from_items(items, rows, width=9).find_hits(both)
    first = Layout.from_items(items[:1], rows[:1]).find_hits(both[:1, :, :7, :7])
    second = Layout.from_items(items[1:], rows[1:]).find_hits(both[1:, :, :4, :4])
    np.testing.assert_array_equal(together, np.concatenate([first, second]))


def test_heads_do_not_mix() -> None:
    weights, order = maps(), [2, 0, 1]
    layout = Layout.from_items([item(Link("r", 0, 1), Link("r", 3, 1, (0,)))], [ROW])
    np.testing.assert_array_equal(layout.find_hits(weights[:, order]), layout.find_hits(weights)[:, :, order])


def test_what_looks_at_nothing_else_finds_nothing() -> None:
    weights = np.zeros((1, 1, 7, 7), np.float32)
    weights[0, 0] = np.eye(7)  # The first word of a decoder attends to itself only, and so may any other word.
    links = [Link("r", 3, at) for at in range(3)] + [Link("r", 3, 0, (1,))]
    assert not Layout.from_items([item(*links)], [ROW]).find_hits(weights).any()


def test_among_candidates_the_largest_weight_between_pieces_counts() -> None:
    weights = np.zeros((1, 1, 7, 7), np.float32)
    weights[0, 0, 4, [1, 2, 3]] = 0.2, 0.25, 0.3  # "tires" attends more to "play" and "ing" together than to "chess".
    weights[0, 0, 1, 4], weights[0, 0, 3, 4] = 0.6, 0.1
    found = Layout.from_items([item(Link("r", 2, 1, (0,)), Link("r", 2, 0, (1,)))], [ROW]).find_hits(weights)
    assert found[:, 0, 0].tolist() == [True, False]
    assert found[:, 1, 0].tolist() == [False, True]


def test_equal_candidates_are_not_preferred() -> None:
    weights = np.full((1, 1, 7, 7), 1 / 7, np.float32)
    assert not Layout.from_items([item(Link("r", 2, 1, (0,)))], [ROW]).find_hits(weights).any()


@pytest.mark.parametrize(("unit", "read"), [((0, 7), True), ((7, 8), False)])
def test_a_unit_without_a_piece_is_not_read(unit: Any, read: bool) -> None:
    strange = AnnotatedText(TEXT, (unit, *WORDS[1:]), (Link("r", 0, 1), Link("r", 2, 3, (0,)), Link("r", 1, 2)))
    assert Layout.from_items([strange], [ROW]).read().tolist() == [read, read, True]


@loop_over("direction", [0, 1])
@loop_over("others", [None, (2,), (2, 3)])
def test_a_head_finds_a_link_where_its_target_is_worth_most(direction: int, others: tuple[int, ...] | None) -> None:
    links = [Link("r", 0, 1, others), Link("r", 1, 0, others)]
    weights, units = maps(heads=200, seed=5), membership(ROW, WORDS)
    found = Layout.from_items([item(*links)], [ROW]).find_hits(weights)  # The axes are (link, direction, head).
    for at, link in enumerate(links):
        worth = np.array([candidate_weights(weights[0, head], units, link, direction) for head in range(200)])
        np.testing.assert_array_equal(np.nanargmax(worth, axis=1) == link.target, found[at, direction])
        competing = set(range(4)) - {link.source} if others is None else {link.target, *others}
        assert set(np.flatnonzero(~np.isnan(worth[0]))) == competing
        assert 0 < found[at, direction].sum() < 200


def test_what_a_unit_that_was_not_read_is_worth_is_nothing() -> None:
    units = membership(ROW, WORDS)
    units[3] = False
    for direction in (0, 1):
        assert candidate_weights(maps()[0, 0], units, Link("r", 0, 1, (3,)), direction)[3] == 0
        assert candidate_weights(maps()[0, 0], units, Link("r", 0, 1), direction)[3] == 0
