"""The strongest links of a head, which do not depend on the order of the additions."""

from __future__ import annotations

import numpy as np

from attention.strongest_links import FIELDS, StrongestLinks, columns, take
from tests.support.cases import loop_over


@loop_over("most", (1, 7, 50, 500))
def test_the_kept_links_are_the_first_of_a_sort(most: int) -> None:
    noise = np.random.default_rng(most)
    excess = noise.integers(1, 40, 300) / 64  # many ties
    whole = columns(excess, excess, noise.permutation(300), noise.integers(0, 128, 300), noise.integers(0, 128, 300))
    links, other = StrongestLinks(most), StrongestLinks(most)
    order = noise.permutation(300)
    for start in range(0, 300, 25):
        links.add(take(whole, np.arange(start, start + 25)))
        other.add(take(whole, order[start : start + 25]))
    expected = np.lexsort((whole["key"], whole["query"], whole["window"], -whole["excess"]))[:most]
    for name in FIELDS:
        np.testing.assert_array_equal(links.table()[name], whole[name][expected])
        np.testing.assert_array_equal(other.table()[name], whole[name][expected])
    assert links.is_full == (most <= 300)
    assert links.floor == whole["excess"][expected[-1]]


def test_no_links_have_no_floor() -> None:
    assert StrongestLinks(3).floor == 0
