"""Names in tagged words, and how many of them were found: a span counts when its ends and its kind are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from probing.labelled.rows import OUTSIDE

Span = tuple[str, int, int]  # kind, first word, last word + 1


def spans(tags: Sequence[str]) -> set[Span]:
    """The spans of a text's tags, as conlleval reads them: an "I-" that goes on with nothing begins one.

    >>> sorted(spans(("B-PER", "I-PER", "O", "I-LOC", "B-LOC")))
    [('LOC', 3, 4), ('LOC', 4, 5), ('PER', 0, 2)]
    """
    found: set[Span] = set()
    kind, first = "", 0
    for at, tag in enumerate((*tags, OUTSIDE)):
        if kind and tag != f"I-{kind}":
            found.add((kind, first, at))
            kind = ""
        if tag != OUTSIDE and not kind:
            kind, first = tag[2:], at
    return found


@dataclass(frozen=True)
class Score:
    """Spans counted: ``right`` are both true and found. A share of nothing is 0."""

    right: int
    found: int
    true: int

    @property
    def precision(self) -> float:
        """Of the spans that were found, the share that is right."""
        return self.right / max(1, self.found)

    @property
    def recall(self) -> float:
        """Of the true spans, the share that was found."""
        return self.right / max(1, self.true)

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        return 2 * self.right / max(1, self.found + self.true)


def score(true: Iterable[Sequence[str]], found: Iterable[Sequence[str]]) -> tuple[Score, dict[str, Score]]:
    """Over texts' tags: all kinds together, and each kind by its name.

    >>> score([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "B-PER"]])[0]
    Score(right=1, found=2, true=2)
    """
    right, given, wanted = Counter[str](), Counter[str](), Counter[str]()
    for one, other in zip(true, found, strict=True):
        here, there = spans(one), spans(other)
        wanted.update(kind for kind, *_ in here)
        given.update(kind for kind, *_ in there)
        right.update(kind for kind, *_ in here & there)
    kinds = sorted(wanted | given)
    return Score(right.total(), given.total(), wanted.total()), {
        kind: Score(right[kind], given[kind], wanted[kind]) for kind in kinds
    }
