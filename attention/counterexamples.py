"""Counter-examples to the claim that a head links a pronoun to its noun.

A head supports the claim on a sentence if the pronoun attends to the right noun more than to another noun. The weight
of a noun is the sum over its tokens, as everywhere in a view of words. In the scores of annotated links
(`attention.annotations`) a noun counts with its strongest token; both agree for nouns of a single token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from attention.annotations import Span
from attention.head_search import LEAST, links
from attention.mask import FloatArray
from attention.view import View

Outcome = Literal["correct", "fooled", "undecided"]


@dataclass(frozen=True)
class LinkWords:
    """The pronoun, the noun that it stands for, and another noun, as indices of words in a view."""

    source: int
    right: int
    other: int


@dataclass(frozen=True)
class LinkTest:
    """The weights of a head from a pronoun to the right noun and to the other noun, each 0 to 1."""

    right: float
    other: float

    @property
    def outcome(self) -> Outcome:
        """Return "correct" if the right noun gets more weight, "fooled" if the wrong noun does.

        If the difference is at most LEAST, return "undecided".

        >>> LinkTest(0.2, 0.5).outcome, LinkTest(0.5, 0.2).outcome, LinkTest(0.2, 0.205).outcome
        ('fooled', 'correct', 'undecided')
        """
        if abs(self.right - self.other) <= LEAST:
            return "undecided"
        return "correct" if self.right > self.other else "fooled"


def measure_links(view: View, words: LinkWords) -> FloatArray:
    """Return the weights of all heads from the pronoun to both nouns, (noun, layer, head); right noun first.

    ``view`` must show words, not tokens.
    """
    return links(view, words.source, (words.right, words.other))


def swap_words(text: str, first: Span, second: Span) -> str:
    """Return the text with two words exchanged; the first word of the text keeps its capital.

    A word that leaves the beginning of the text loses its capital, unless both words are capitalised, as names are.

    >>> swap_words("Dogs chase cats.", (0, 4), (11, 15)), swap_words("Ann saw Bob.", (0, 3), (8, 11))
    ('Cats chase dogs.', 'Bob saw Ann.')
    >>> swap_words("The dog saw the cat.", (16, 19), (4, 7))
    'The cat saw the dog.'
    """
    (a, b), (c, d) = sorted((first, second))
    early, late = text[a:b], text[c:d]
    if not text[:a].strip() and early[:1].isupper() and late[:1].islower():
        early, late = early[:1].lower() + early[1:], late[:1].upper() + late[1:]
    return text[:a] + late + text[b:c] + early + text[d:]


# Rewordings of English that keep the meaning: a pattern, and its replacement.
_REWORDINGS = (
    (r"\bbecause\b", "since"),
    (r"\btoo\b(?= \w)", "so"),
    (r"\bdidn['’]t\b", "did not"),
    (r"\bdoesn['’]t\b", "does not"),
    (r"\bdid not\b", "didn't"),
    (r"\bdoes not\b", "doesn't"),
)
_MARKS = {".": "!", "!": ".", "。": "！", "！": "。"}


def reword(text: str, nouns: Sequence[str]) -> tuple[str, ...]:
    """Return rewordings of a sentence that do not change which noun its pronoun refers to.

    They replace a conjunction, a contraction, the article before one of the ``nouns``, or the mark at the end. The
    rules are English, except for the mark.

    >>> reword("The dog saw the cat because it was hungry.", ["dog", "cat"])[:2]
    ('The dog saw the cat since it was hungry.', 'This dog saw the cat because it was hungry.')
    >>> reword("狗追猫。", [])
    ('狗追猫！',)
    """
    rules = [(re.compile(pattern), new) for pattern, new in _REWORDINGS]
    found = [pattern.sub(new, text, count=1) for pattern, new in rules]
    for noun in nouns:
        article = re.compile(rf"\b(T|t)he(?= {re.escape(noun)}\b)")
        found.append(article.sub(lambda match: f"{match[1]}his", text, count=1))
    end = text.rstrip()
    if end[-1:] in _MARKS:
        found.append(end[:-1] + _MARKS[end[-1]])
    return tuple(dict.fromkeys(one for one in found if one != text))
