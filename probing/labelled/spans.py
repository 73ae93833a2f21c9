"""Named spans in a sentence's tags, and how many of them were found: exact match of kind, first and last word.

As CoNLL-2003's conlleval counts (doi:10.3115/1119176.1119195): an "I-" that goes on with nothing, or with another kind,
begins a span. So any tags that a model puts out can be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from probing.labelled.labeled_texts import OUTSIDE

Span = tuple[str, int, int]  # kind, first word, last word + 1


def spans(tags: Sequence[str]) -> list[Span]:
    """The spans of a sentence tagged in BIO, in order.

    >>> spans(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    [('PER', 0, 2), ('LOC', 3, 4), ('LOC', 4, 5)]
    """
    found: list[Span] = []
    for at, tag in enumerate(tags):
        if tag == OUTSIDE:
            continue
        kind = tag[2:]
        if tag[0] == "I" and found and found[-1][0] == kind and found[-1][2] == at:
            found[-1] = (kind, found[-1][1], at + 1)
        else:
            found.append((kind, at, at + 1))
    return found


@dataclass(frozen=True)
class SpanCounts:
    """Spans counted: ``right`` are both true and found. A share of nothing is 0."""

    right: int
    found: int
    true: int

    @property
    def precision(self) -> float:
        """Of the spans that were found, the share that is right, 0 to 1."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Of the true spans, the share that was found, 0 to 1."""
        return self.right / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both, 0 to 1.

        >>> SpanCounts(right=1, found=2, true=4).f1
        0.3333333333333333
        """
        return 2 * self.right / (self.found + self.true) if self.right else 0.0


def score(true: Iterable[Sequence[str]], found: Iterable[Sequence[str]]) -> tuple[SpanCounts, dict[str, SpanCounts]]:
    """Over sentences' tags, true and found: all kinds together (micro), and each kind by its name.

    >>> score([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "B-PER"]])[0].f1
    0.5
    """
    counts: tuple[Counter[str], Counter[str], Counter[str]] = (Counter(), Counter(), Counter())  # right, found, true
    for wanted, given in zip(true, found, strict=True):
        if len(wanted) != len(given):
            raise ValueError(
                f"A sentence has {len(wanted)} words and {len(given)} tags were found; one each is needed."
            )
        here, there = set(spans(given)), set(spans(wanted))
        for count, some in zip(counts, (here & there, here, there), strict=True):
            count.update(kind for kind, _, _ in some)
    kinds = sorted(counts[1] | counts[2])
    return SpanCounts(*(count.total() for count in counts)), {
        kind: SpanCounts(*(count[kind] for count in counts)) for kind in kinds
    }
