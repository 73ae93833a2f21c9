"""Links between two regions of a picture: cases by hand, invariances, and the excess of single links."""

from __future__ import annotations

import numpy as np
import pytest

from attention.excess import excess_map, visible_word_pairs
from attention.mask import FloatArray
from attention.patch_roles import RegionLinks, pack, parse_region, region_links, tokens_of, unpack
from attention.record import MapRecord
from attention.view import View
from tests.support.seen import START, TOKENS, picture_trace

GRID = picture_trace().source.grid
assert GRID is not None
ONE, OTHER = tokens_of((0, 0, 1, 1), GRID), tokens_of((1, 3, 2, 4), GRID)


def links(*maps: FloatArray) -> RegionLinks:
    return region_links(View(picture_trace(parts={"encoder": (MapRecord(np.stack(maps)),)})), ONE, OTHER)


def test_a_head_that_links_them_a_head_that_everything_looks_with_and_an_even_one() -> None:
    linked = np.eye(TOKENS, dtype=np.float32)
    linked[ONE] = 0
    linked[np.ix_(ONE, OTHER)] = 1 / len(OTHER)
    hub = np.zeros((TOKENS, TOKENS), np.float32)
    hub[:, OTHER[0]] = 1
    even = np.full((TOKENS, TOKENS), 1 / TOKENS, np.float32)
    found = links(linked, hub, even)
    assert found.weights[0] == pytest.approx([1, 1, 4 / TOKENS])
    assert found.usual[0] == pytest.approx([0, 1, 4 / TOKENS])
    assert found.beyond[0] == pytest.approx([1, 0, 0], abs=1e-6)


def test_what_cls_and_registers_give_counts_nowhere() -> None:
    view = View(picture_trace())
    before = region_links(view, ONE, OTHER)
    maps = [np.stack([record.weights(head) for head in range(record.heads)]) for record in view.trace.records()]
    for one in maps:
        one[:, :START] = 0
        one[:, :START, OTHER[0]] = 1
    changed = picture_trace(parts={"encoder": tuple(map(MapRecord, maps))})
    after = region_links(View(changed), ONE, OTHER)
    np.testing.assert_allclose(after.weights, before.weights, atol=1e-6)
    np.testing.assert_allclose(after.usual, before.usual, atol=1e-6)


def test_of_single_patches_it_is_the_excess_of_their_link() -> None:
    view = View(picture_trace())
    found = region_links(view, np.array([5]), np.array([9]))
    rows = np.arange(TOKENS)
    for layer in range(view.layers):
        for head in range(view.heads):
            expected = excess_map(view.weights(layer, head), visible_word_pairs(view, layer, rows))[5, 9]
            assert found.beyond[layer, head] == pytest.approx(expected, abs=1e-6)


def test_where_there_are_no_other_patches_nothing_is_known() -> None:
    every = np.arange(START, TOKENS)
    assert np.isnan(region_links(View(picture_trace()), every, OTHER).beyond).all()


def test_a_region_in_an_address_comes_back_and_hostile_ones_are_none() -> None:
    grid = picture_trace().source.grid
    assert grid is not None
    assert unpack(pack((0, 1, 2, 4)), grid) == (0, 1, 2, 4)
    for word in ("", "0-1-2", "0-0-3-0", "0-0-0-5", "-1-0-0-0", "0-0-0-٣", "1-0-0-0", "9" * 9 + "-0-0-0"):
        assert unpack(word, grid) is None
    for ends in (None, "0011", [0, 0, 1], [0, 0, 1.0, 1], [True, 0, 1, 1], {"a": 1}):
        assert parse_region(ends, grid) is None
