"""Words that a pronoun may refer to: stated by the app's annotated sentences, or guessed in any other text."""

from __future__ import annotations

from dataclasses import dataclass

from attention.annotations import Span
from attention.view import View
from probing.formats import load_ready_set
from probing.pronoun_heads import PRONOUNS
from ui.input.probes import LIBRARY


@dataclass(frozen=True)
class KnownWords:
    """The pronoun of an annotated sentence, the noun that it stands for, and another noun."""

    source: str
    right: str
    other: str


def known_words(text: str) -> KnownWords | None:
    """Return the annotated words of a sentence of the app, or None.

    >>> known_words("The animal didn't cross the street because it was too wide.")
    KnownWords(source='it', right='street', other='animal')
    """
    for probe in LIBRARY:
        if text == probe.text:
            return KnownWords(probe.source, *probe.candidates)
        if text == probe.other and probe.other_right:
            wrong = next(word for word in probe.candidates if word != probe.other_right)
            return KnownWords(probe.source, probe.other_right, wrong)
    for item in load_ready_set(PRONOUNS).items:
        if text == item.text:
            link = item.links[0]
            units = (link.source, link.target, *(link.others or ()))
            return KnownWords(*(text[slice(*item.units[unit])] for unit in units))
    return None


# English words after which a noun is expected.
DETERMINERS = frozenset(
    (
        *("the", "a", "an", "this", "that", "these", "those", "every", "some", "one"),
        *("my", "your", "his", "her", "its", "our", "their"),
    )
)
SHORTEST = 3  # letters of a word that is guessed to be a noun, if no determiner precedes it


def guess_nouns(view: View, source: int) -> list[int]:
    """Return the words that may be nouns, likeliest first.

    Words after a determiner come first, then capitalised words, then all others. In each group, words before the
    pronoun precede those after it.
    """
    cells = [at for at in range(len(view.keys)) if is_word(view, at) and at != source]

    def rank(at: int) -> tuple[bool, int, int]:
        word = written_word(view, at)
        follows = at > 0 and view.keys[at - 1].text.casefold() in DETERMINERS
        is_name = word[:1].isupper() and word.casefold() not in DETERMINERS
        kind = 0 if follows else 1 if is_name else 2 if len(word) >= SHORTEST else 3
        return at > source, kind, at

    determiners = [at for at in cells if view.keys[at].text.casefold() in DETERMINERS]
    return [*sorted(set(cells) - set(determiners), key=rank), *determiners]


def is_word(view: View, at: int) -> bool:
    """Return whether a cell is a word, not a special token or a punctuation mark."""
    return not view.keys[at].special and view.keys[at].text[:1].isalnum()


def span_of(view: View, cell: int) -> Span | None:
    """Return the character span of a word in the text, (start, stop); None for a special token."""
    start, stop = view.keys[cell].pieces
    first, last = view.trace.source.spans[start], view.trace.source.spans[stop - 1]
    return None if first is None or last is None else (first[0], last[1])


def written_word(view: View, cell: int) -> str:
    """Return a word as written in the text, because the tokens of an uncased model have no capitals."""
    span = span_of(view, cell)
    return view.keys[cell].text if span is None else view.trace.text[slice(*span)].strip()
