"""How a tokenizer turns a text into token numbers, step by step, and how it cuts one word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from inference.task_heads import TOKENIZER
from inference.tasks.model_request import InspectRequest

Span = tuple[int, int]


@dataclass(frozen=True)
class Word:
    """One part of the text that is cut on its own, between splitting and cutting."""

    text: str  # as the vocabulary is asked for it: normalised, with the splitter's marks
    shown: str  # the same with its marks made readable
    span: Span  # (start, end) in its text, in characters
    whole: bool  # an added token such as [MASK], which is never cut
    tokens: Span  # [first, last) of its tokens


@dataclass(frozen=True)
class TokenizedText:
    """The text, or the second one, on its way."""

    text: str
    normalised: str
    words: tuple[Word, ...]


@dataclass(frozen=True)
class Token:
    """One token as the model gets it, and as people read it."""

    raw: str  # as the vocabulary spells it
    shown: str  # the same with bytes made readable
    id: int
    segment: int  # what the model's segment embedding is given
    side: int  # 0: of the text, 1: of the second one
    span: Span | None  # in its text; None where it has no place there
    special: bool  # put there by the template
    unknown: bool


@dataclass(frozen=True)
class Steps:
    """Everything between a text and its token numbers.

    Where ``sides`` is empty, ``why`` says in a sentence why only the outcome can be shown.
    """

    model: str
    kind: str  # "encoder", "decoder" or "encoder-decoder"
    algorithm: str  # "WordPiece", "BPE", "Unigram", "WordLevel"; "" where the tokenizer does not say
    vocabulary: int  # entries, added tokens included
    normaliser: tuple[str, ...]  # what it does, in words; nothing: the text stays as it is
    splitter: tuple[str, ...]
    template: str  # "[CLS] A [SEP]"
    unknown: str  # the token for what is not in the vocabulary; "" where everything is
    sides: tuple[TokenizedText, ...]
    tokens: tuple[Token, ...]
    why: str = ""


@dataclass(frozen=True)
class TokenSteps(InspectRequest[Steps]):
    """The steps from a text, or two, to token numbers. Needs the tokenizer only, not the weights."""

    ANSWERED_BY: ClassVar[str] = "tokenizer_steps"
    HEAD: ClassVar[str] = TOKENIZER

    text: str = ""
    pair: str | None = None


@dataclass(frozen=True)
class Match:
    """WordPiece: the longest beginning of the rest that is in the vocabulary."""

    rest: str
    tried: tuple[str, ...]  # longer ones, in order, which are not in it
    taken: str  # "" where none is


@dataclass(frozen=True)
class Merge:
    """BPE: the neighbours that were learnt to be joined first, joined."""

    before: tuple[str, ...]
    at: int  # the first of the two
    rank: int  # which of the learnt merges it is, from 0
    after: tuple[str, ...]


@dataclass(frozen=True)
class BestPrefix:
    """Unigram: the best way to write the word up to ``end``."""

    end: int  # characters
    piece: str  # the last piece of that way
    score: float  # its log probability
    total: float  # of all pieces of that way


@dataclass(frozen=True)
class WordSteps:
    """How one word is cut: the steps, and the pieces that they end in, bytes made readable in both."""

    algorithm: str
    steps: tuple[Match | Merge | BestPrefix, ...]
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    note: str = ""  # a rule that decided before any step


@dataclass(frozen=True)
class WordWalk(InspectRequest[WordSteps]):
    """How the tokenizer cuts one word, given as Word.text has it. Raises Refusal where this cannot be followed."""

    ANSWERED_BY: ClassVar[str] = "tokenizer_steps"
    HEAD: ClassVar[str] = TOKENIZER

    word: str = ""
