"""Groups of annotated texts that depend on each other: halves do not split them, and tests count them once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from attention.annotations import AnnotatedText, Link
from probing.corpus import HALVES, AnnotatedCorpus
from probing.formats import load_ready_set
from probing.results import p_values
from probing.score import RelationCounts
from probing.statistics import NEAREST, SUBJECT


def text(words: str, *others: int) -> AnnotatedText:
    """Return a text of words of one letter, with a link from its first word to its second."""
    units = tuple((at, at + 1) for at in range(0, len(words), 2))
    return AnnotatedText(words, units, (Link("coref", 0, 1, others or None),))


def halves(*items: AnnotatedText) -> tuple[int, ...]:
    return AnnotatedCorpus("csv", items, (), "").halves


def test_texts_that_do_not_depend_on_each_other_alternate() -> None:
    assert halves(text("a b c", 2), text("a d e", 2), text("a b", 1), text("f b")) == (0, 1, 0, 1)


def test_texts_with_the_same_candidates_are_in_the_same_half() -> None:
    assert halves(text("a b c", 2), text("a C B d", 2), text("a d e", 2), text("a f g", 2)) == (0, 0, 1, 1)


def test_texts_that_a_third_text_joins_are_in_the_same_half() -> None:
    both = AnnotatedText(
        "a b c d e", ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9)), (Link("r", 0, 1, (2,)), Link("r", 0, 3, (4,)))
    )
    assert halves(text("a b c", 2), text("f d e", 2), both, text("g h i", 2)) == (0, 0, 0, 1)


def test_the_pronouns_of_the_app_are_split_by_candidates() -> None:
    corpus = load_ready_set("pronouns")
    sides: dict[frozenset[str], set[int]] = {}
    for half, item in zip(corpus.halves, corpus.items, strict=True):
        words = frozenset(item.text[start:stop] for start, stop in item.units[1:])
        sides.setdefault(words, set()).add(half)
    assert len(sides) < len(corpus.items)
    assert all(len(found) == 1 for found in sides.values())
    assert sum(corpus.halves) == len(corpus.items) // 2


@pytest.mark.parametrize("seed", range(5))
def test_no_group_is_split_and_the_halves_differ_by_at_most_a_group(seed: int) -> None:
    letters = np.random.default_rng(seed).choice(list("bcdefgh"), (30, 2))
    corpus = AnnotatedCorpus("csv", tuple(text(f"a {one} {other}", 2) for one, other in letters), (), "")
    texts: dict[int, set[str]] = {}
    sides: dict[int, set[int]] = {}
    for group, half, item in zip(corpus.groups, corpus.halves, corpus.items, strict=True):
        texts.setdefault(group, set()).add(item.text)
        sides.setdefault(group, set()).add(half)
    assert all(len(found) == 1 for found in sides.values())
    sizes = [sum(len(texts[group]) for group in texts if sides[group] == {half}) for half in range(HALVES)]
    assert abs(sizes[0] - sizes[1]) <= max(map(len, texts.values()))


def test_a_later_member_of_a_group_counts_for_its_size() -> None:
    twins = [text("a b c", 2), text("a d e", 2), text("a f g", 2), text("a c b", 2), text("a B c", 2)]
    assert halves(*twins) == (0, 1, 1, 0, 0)


def p_of(items: Sequence[AnnotatedText], differences: Sequence[int], rule: int) -> float:
    """Return the p-value of a head whose links differ from the rule by 1, 0 or -1, one link per text."""
    cues = [rule if difference < 0 else SUBJECT for difference in differences]
    hits = np.array(differences)[:, None, None, None] > 0
    counts = RelationCounts.from_hits([(at, 0) for at in range(len(items))], cues, hits)
    return float(p_values(counts, rule, AnnotatedCorpus("csv", tuple(items), ("source to target",), ""))[0, 0, 0])


@pytest.mark.parametrize("seed", range(5))
def test_twins_with_equal_differences_count_as_one_link(seed: int) -> None:
    signs = np.random.default_rng(seed).choice([-1, 1], 10).tolist()
    one_each = [text(f"{'abcdefghij'[at]} {'klmnopqrst'[at]} {'uvwxyzABCD'[at]}", 2) for at in range(10)]
    twins = [text(item.text[:2] + item.text[4] + " " + item.text[2], 2) for item in one_each]
    alone = p_of(one_each, signs, NEAREST)
    assert p_of([*one_each, *twins], [*signs, *signs], NEAREST) == pytest.approx(alone, rel=1e-9)
