"""The true names of a sentence and those that were said, word by word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from i18n import gettext_lazy
from probing.labelled.predictions import TagPrediction
from probing.labelled.spans import Span, spans

Verdict = Literal["", "right", "missed", "wrong"]


@dataclass(frozen=True)
class ComparedWord:
    """One word. ``label`` says in words what is the matter, at the first word of a name; "" elsewhere."""

    verdict: Verdict
    label: str


def compare_words(row: TagPrediction) -> Iterator[ComparedWord]:
    """A name is right where kind and both ends are; else its words are missed, or said wrongly.

    >>> row = TagPrediction("a b c d", (), ("B-PER", "I-PER", "O", "B-LOC"), ("B-PER", "O", "B-LOC", "B-LOC"), (), ())
    >>> [(word.verdict, word.label) for word in compare_words(row)]
    [('wrong', 'PER, ends differ'), ('missed', 'missed PER'), ('wrong', 'said LOC'), ('right', 'LOC')]
    """
    true, said = _by_word(row.tags), _by_word(row.told)
    before = None
    for at in range(len(row.tags)):
        here = true.get(at), said.get(at)
        verdict = _verdict(*here)
        yield ComparedWord(verdict, _label(*here) if here != before else "")
        before = here


def _by_word(tags: tuple[str, ...]) -> dict[int, Span]:
    """The name that each word is of, where it is of any."""
    return {at: span for span in spans(tags) for at in range(span[1], span[2])}


def _verdict(true: Span | None, said: Span | None) -> Verdict:
    if said == true:
        return "right" if true else ""
    return "wrong" if said else "missed"


def _label(true: Span | None, said: Span | None) -> str:
    if said is None:
        return gettext_lazy("missed {true}", true=true[0]) if true else ""
    if true is None:
        return gettext_lazy("said {said}", said=said[0])
    if said == true:
        return said[0]
    if said[0] == true[0]:
        return gettext_lazy("{said}, ends differ", said=said[0])
    return gettext_lazy("said {said}, is {true}", said=said[0], true=true[0])
