"""The steps of a tokenizer from a text to token ids, and from a word to subwords."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from inference.task_heads import TOKENIZER
from inference.tasks.model_request import InspectRequest

Span = tuple[int, int]


@dataclass(frozen=True)
class Word:
    """A part of the text after pre-tokenization, which the tokenizer's model splits into subwords."""

    text: str  # input of the tokenizer's model: normalised, with the marks of the pre-tokenizer
    shown: str  # ``text`` with readable marks
    span: Span  # (start, end) in its text, in characters
    whole: bool  # True for an added token such as [MASK], which is never split
    tokens: Span  # [first, last) of its tokens


@dataclass(frozen=True)
class TokenizedText:
    """A text with its form after each step of the tokenizer."""

    text: str
    normalised: str
    words: tuple[Word, ...]


@dataclass(frozen=True)
class Token:
    """A token as the model receives it (``id``) and as it is displayed (``shown``)."""

    raw: str  # as in the vocabulary
    shown: str  # ``raw`` with readable bytes
    id: int
    segment: int  # the id for the model's segment embedding
    side: int  # 0 for the first text, 1 for the second text
    span: Span | None  # in its text; None if it has no place there
    special: bool  # True for a special token, which the template adds
    unknown: bool


@dataclass(frozen=True)
class Steps:
    """All steps from a text to its token ids.

    ``sides`` has the steps of each text: one entry for a text, two for a pair. If the tokenizer shows only its tokens,
    ``sides`` is empty and ``why`` is the reason, as a message for users.
    """

    model: str
    kind: str  # "encoder", "decoder" or "encoder-decoder"
    algorithm: str  # "WordPiece", "BPE", "Unigram", "WordLevel", or "" if it is not known
    vocabulary: int  # entries, added tokens included
    normaliser: tuple[str, ...]  # descriptions of its steps; empty if the text is not changed
    splitter: tuple[str, ...]
    template: str  # "[CLS] A [SEP]"
    unknown: str  # the unknown token, or "" if there is none
    sides: tuple[TokenizedText, ...]
    tokens: tuple[Token, ...]
    why: str = ""


@dataclass(frozen=True)
class TokenSteps(InspectRequest[Steps]):
    """A request for the steps of the tokenizer from a text or a pair to token ids.

    The answer needs only the tokenizer, not the weights of the model.
    """

    ANSWERED_BY: ClassVar[str] = "tokenizer_steps.answer"
    HEAD: ClassVar[str] = TOKENIZER

    text: str = ""
    pair: str | None = None


@dataclass(frozen=True)
class Match:
    """A step of WordPiece: ``taken`` is the longest prefix of ``rest`` that is in the vocabulary."""

    rest: str
    tried: tuple[str, ...]  # longer prefixes, in order, which are not in the vocabulary
    taken: str  # "" if no prefix is in the vocabulary


@dataclass(frozen=True)
class Merge:
    """A step of BPE: of all adjacent pairs, the pair that comes first in the list of learned merges is merged."""

    before: tuple[str, ...]
    at: int  # index of the first symbol of the pair
    rank: int  # rank among the learned merges, from 0
    after: tuple[str, ...]


@dataclass(frozen=True)
class BestPrefix:
    """A step of Unigram: the most probable segmentation of the first ``end`` characters of the word."""

    end: int  # characters
    piece: str  # last token of the segmentation
    score: float  # log-probability of that token
    total: float  # log-probability of the segmentation


@dataclass(frozen=True)
class WordSteps:
    """The steps that split a word, and the resulting subwords; bytes are shown as readable characters in both."""

    algorithm: str
    steps: tuple[Match | Merge | BestPrefix, ...]
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    note: str = ""  # a rule that decided the result before any step


@dataclass(frozen=True)
class WordWalk(InspectRequest[WordSteps]):
    """A request for the steps that split a word of the text into subwords.

    ``word`` is given after normalisation and pre-tokenization, as in ``Word.text``. UserError is raised for a word or
    tokenizer whose steps cannot be shown.
    """

    ANSWERED_BY: ClassVar[str] = "tokenizer_steps.answer"
    HEAD: ClassVar[str] = TOKENIZER

    word: str = ""
