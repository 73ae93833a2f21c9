"""The most probable tokens of a blank, and the scores of candidate words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from attention.tokens import TokenRow
from inference.task_heads import MASKED
from inference.tasks.model_request import Answer, PredictRequest

Place = tuple[int, int, int]  # (text, start, end) in characters; text is 0 for the text and 1 for the pair


def lies_in(row: TokenRow, at: int, places: Sequence[Place]) -> bool:
    """Return True if token ``at`` overlaps any of the places; special tokens never do.

    >>> row = TokenRow(("[CLS]", "play", "ing"), (101, 2377, 2075), (None, 0, 0), (0, 0, 0), (None, (0, 4), (4, 7)))
    >>> [lies_in(row, at, [(0, 5, 9)]) for at in range(3)]
    [False, False, True]
    """
    span = row.spans[at]
    if span is None or row.words[at] is None:
        return False
    return any(text == row.segments[at] and start < span[1] and span[0] < end for text, start, end in places)


@dataclass(frozen=True)
class BlankRequest(PredictRequest[Answer]):
    """A request about a text with blanks: the tokens in ``hidden`` places, and every typed [MASK].

    The model's own mask token replaces each of them.
    """

    HEAD: ClassVar[str] = MASKED

    text: str = ""
    pair: str | None = None
    hidden: tuple[Place, ...] = ()
    cut: int | None = None  # the number of tokens to read


@dataclass(frozen=True)
class Guess:
    """A prediction for a blank; ``rank`` is 1 for the most probable token of the vocabulary."""

    token: int
    piece: str  # as displayed; "…" precedes a token that continues a word
    probability: float
    rank: int


@dataclass(frozen=True)
class Blank:
    """The model's predictions for a blank."""

    position: int  # position in the model's input
    original: Guess | None  # the hidden token; None for a typed blank
    guesses: tuple[Guess, ...]  # most probable first
    entropy: float  # bits, of the whole distribution: 0 certain, log2 of the vocabulary at most


@dataclass(frozen=True)
class WordCandidate:
    """A word in place of a hidden word or of a typed blank.

    It takes as many blanks as it has tokens, filled from left to right. Each token is scored with the tokens
    before it filled in and those after it still hidden, and the log-probabilities add up; other hidden words stay
    hidden. This is the pseudo-log-likelihood of arXiv:1910.14659 in the within-word l2r variant of
    arXiv:2305.10588, for a single word. Words of unequal numbers of tokens share no distribution, so only a word
    of a single token has a rank.
    """

    word: str
    pieces: tuple[str, ...]
    log_probability: float | None  # natural logarithm; None if there is none for the reason in ``problem``
    rank: int | None
    problem: str = ""


@dataclass(frozen=True)
class HiddenWord:
    """A hidden word or the hidden part of a word; a typed blank counts as a word."""

    blanks: tuple[int, ...]  # indices of its blanks, from the left
    original: WordCandidate | None  # the hidden word; None for a typed blank


@dataclass(frozen=True)
class Filled:
    """The predictions for all blanks; ``row`` is the given text before words are hidden."""

    row: TokenRow
    blanks: tuple[Blank, ...]
    hidden: tuple[HiddenWord, ...]  # groups of blanks by word; every blank is in a single group
    candidates: tuple[WordCandidate, ...]
    mask: str  # the model's own mask token
    vocabulary: int  # size of the vocabulary
    text: str  # the text with mask tokens in the blanks
    pair: str | None
    whole: bool  # True if encoding that text gives exactly these tokens, so that its trace can be shown


@dataclass(frozen=True)
class MaskedWords(BlankRequest[Filled]):
    """A request for the ``top`` tokens of each blank, and the scores of ``words`` at blank ``blank``.

    A word takes the place of the whole hidden word, with all its blanks.
    """

    ANSWERED_BY: ClassVar[str] = "masked_words"

    top: int = 10
    words: tuple[str, ...] = ()
    blank: int = 0
