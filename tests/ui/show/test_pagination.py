"""Filters of a long list."""

from __future__ import annotations

from dataclasses import dataclass

from ui.show.scored_links import FILTERS, filter_outcome


@dataclass(frozen=True)
class Answer:
    hit: bool
    number: int


EVERY = [Answer(at % 3 == 0, at) for at in range(10)]


def test_hits_and_misses_are_all_each_once_and_in_order() -> None:
    every, hits, misses = (filter_outcome(EVERY, outcome) for outcome in FILTERS)
    assert every == EVERY
    assert [one.number for one in hits] == [0, 3, 6, 9]
    assert sorted([*hits, *misses], key=lambda one: one.number) == EVERY
    assert not any(one.hit for one in misses)
