"""Halves of annotated texts: texts that depend on each other are in the same half."""

from __future__ import annotations

from attention.annotations import AnnotatedText, Link
from probing.corpus import AnnotatedCorpus
from probing.formats import load_ready_set


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
