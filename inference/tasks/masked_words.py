"""Which piece fits a blank, and how well do the words that the reader asks about?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from attention.tokens import TokenRow
from inference.task_heads import MASKED
from inference.tasks.model_request import Answer, PredictRequest

Place = tuple[int, int, int]  # 0 for the text or 1 for the pair, and where in it: (text, start, end) in characters


def lies_in(row: TokenRow, at: int, places: Sequence[Place]) -> bool:
    """Whether token ``at`` of the text itself, no special one, lies in one of the places, at least in part.

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
    """A text with blanks: pieces that lie in ``hidden`` places, and [MASK] wherever the reader typed it.

    The model's own mask token, whatever it is, stands in every blank; "[MASK]" in the text is taken for it.
    """

    HEAD: ClassVar[str] = MASKED

    text: str = ""
    pair: str | None = None
    hidden: tuple[Place, ...] = ()
    cut: int | None = None  # read the first so many tokens only


@dataclass(frozen=True)
class Guess:
    """One piece in a blank. ``rank`` counts from 1, the likeliest piece of the vocabulary."""

    token: int
    piece: str  # as shown; "…" where it goes on from the piece before
    probability: float
    rank: int


@dataclass(frozen=True)
class Blank:
    """What the model says of one blank."""

    position: int  # among the tokens that it reads
    original: Guess | None  # what stood there; None where the reader typed the blank
    guesses: tuple[Guess, ...]  # the likeliest first
    entropy: float  # bits, of the whole distribution: 0 certain, log2 of the vocabulary at most


@dataclass(frozen=True)
class WordCandidate:
    """A word in the place of a hidden one, or in a typed blank.

    It takes as many blanks as it has pieces, filled from left to right, each piece scored with those before it in
    place and those after it still hidden: the logarithms add up. Other hidden words stay hidden. This is the
    pseudo-log-likelihood of arXiv:1910.14659 in the within-word l2r variant of arXiv:2305.10588, for one word. Words
    of unequal numbers of pieces share no distribution, so only a word of one piece has a rank.
    """

    word: str
    pieces: tuple[str, ...]
    log_probability: float | None  # natural logarithm; None where it has none, and ``problem`` says why
    rank: int | None
    problem: str = ""


@dataclass(frozen=True)
class HiddenWord:
    """A word that is hidden, or the part of it that is; a typed blank stands for itself."""

    blanks: tuple[int, ...]  # numbers of its blanks, from the left
    original: WordCandidate | None  # the word that stood there; None where the reader typed the blank


@dataclass(frozen=True)
class Filled:
    """The answer. ``row`` is the text before anything was hidden, its places those of the text as it was given."""

    row: TokenRow
    blanks: tuple[Blank, ...]
    hidden: tuple[HiddenWord, ...]  # which blanks belong together; every blank is in one of them
    candidates: tuple[WordCandidate, ...]
    mask: str  # the model's own mask token
    vocabulary: int  # pieces that could be guessed
    text: str  # as the model reads it, mask tokens in the blanks
    pair: str | None
    whole: bool  # whether reading that text gives these very tokens, so that its trace is this one's


@dataclass(frozen=True)
class MaskedWords(BlankRequest[Filled]):
    """The ``top`` likeliest pieces of each blank, and how well each of ``words`` fits at blank number ``blank``.

    There a word takes the place of the whole hidden word, of all blanks that belong to it.
    """

    ANSWERED_BY: ClassVar[str] = "masked_words"

    top: int = 10
    words: tuple[str, ...] = ()
    blank: int = 0
