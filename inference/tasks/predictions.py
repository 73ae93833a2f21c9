"""Requests for predictions: masked words, next sentence, corrupted words, logit lens and surprisal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.task_heads import CAUSAL, MASKED, NEXT_SENTENCE
from inference.tasks.decoding import Decoding
from inference.tasks.model_request import Answer, PredictRequest

Place = tuple[int, int, int]  # (text, start, end) in characters; text is 0 for the text and 1 for the pair


def lies_in(row: TokenRow, at: int, places: Sequence[Place]) -> bool:
    """Return True if token ``at`` overlaps any of the character spans ``places``; special tokens overlap none.

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
    """A request about a text with blanks: every typed [MASK], and every token in the character spans ``hidden``.

    The model's own mask token replaces the token of each blank.
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
    """The score of a word in place of a hidden word or of a typed blank.

    A word of several tokens takes as many blanks, filled from left to right. Each token is scored with its earlier
    tokens visible and its later tokens hidden, and the log-probabilities are summed. All further hidden words stay
    hidden. This is the pseudo-log-likelihood of arXiv:1910.14659 in the within-word l2r variant of arXiv:2305.10588,
    for a single word. A word of several tokens has no rank, because words of unequal lengths share no distribution.
    """

    word: str
    pieces: tuple[str, ...]
    log_probability: float | None  # natural logarithm; None if there is none for the reason in ``problem``
    rank: int | None
    problem: str = ""


@dataclass(frozen=True)
class HiddenWord:
    """A hidden word, or the hidden part of a word; a typed [MASK] counts as a word."""

    blanks: tuple[int, ...]  # indices of its blanks, from the left
    original: WordCandidate | None  # the hidden word; None for a typed blank


@dataclass(frozen=True)
class Filled:
    """The predictions for all blanks; ``row`` has the tokens of the text before words are hidden."""

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
    """A request for the ``top`` tokens of each blank, and the scores of ``words`` in place of a hidden word.

    Each of ``words`` replaces the whole hidden word to which blank number ``blank`` belongs.
    """

    ANSWERED_BY: ClassVar[str] = "masked_words.answer"

    top: int = 10
    words: tuple[str, ...] = ()
    blank: int = 0


NEXT, ORDER = "next", "order"


@dataclass(frozen=True)
class NextSentenceAnswer:
    """The prediction of the next-sentence head.

    ``judges`` is the task that the head was trained for. NEXT: the second text follows the first, or is from another
    place (BERT, arXiv:1810.04805). ORDER: two neighbouring texts are in their order, or swapped (ALBERT,
    arXiv:1909.11942). For both tasks, class 0 means that the second text follows the first.
    """

    probability: float  # that the second text follows the first
    scores: tuple[float, float]  # before the softmax: yes, no
    judges: str
    row: TokenRow  # both texts, as the model read them


@dataclass(frozen=True)
class NextSentence(PredictRequest[NextSentenceAnswer]):
    """A request for the probability that ``pair`` follows ``text``; ``cut`` limits the tokens of both."""

    ANSWERED_BY: ClassVar[str] = "masked_words.judge_next_sentence"
    HEAD: ClassVar[str] = NEXT_SENTENCE

    text: str = ""
    pair: str = ""
    cut: int | None = None


HIDDEN, REPLACED, KEPT = "hidden", "replaced", "kept"


@dataclass(frozen=True)
class Chosen:
    """A token of a corrupted text that the model must predict; ``loss`` is its negative log-likelihood in nats."""

    position: int
    seen: str  # the token in the model's input
    how: str  # HIDDEN, REPLACED or KEPT
    probability: float
    loss: float


@dataclass(frozen=True)
class CorruptedText:
    """A corrupted text, with the tokens to predict; the training loss is the mean of ``loss`` over these tokens."""

    row: TokenRow  # the text before corruption
    chosen: tuple[Chosen, ...]


@dataclass(frozen=True)
class Corruption(PredictRequest[CorruptedText]):
    """A request to corrupt 15 % of the tokens, at least a single token, drawn with ``seed``.

    Of these tokens, 80 % are hidden, 10 % are replaced by a random token that is not special, and 10 % are kept;
    each is drawn independently (arXiv:1810.04805, section 3.1).
    """

    ANSWERED_BY: ClassVar[str] = "masked_words.corrupt"
    HEAD: ClassVar[str] = MASKED

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Layers:
    """The logit lens of a position: predictions from the embedding, each layer and the final output.

    These predictions are the rows of the arrays. ``followed`` has the requested tokens.
    """

    guesses: tuple[tuple[Guess, ...], ...]  # by row, most probable first
    followed: tuple[Guess, ...]  # the requested tokens, with the probabilities of the last row
    probabilities: FloatArray  # (row, followed) float32
    ranks: FloatArray  # (row, followed) int64, from 1
    normed: bool  # True if the model's final norm was applied to the rows before the last


@dataclass(frozen=True)
class Lens(BlankRequest[Layers]):
    """A request for the logit lens: predictions for blank number ``blank`` from each layer's hidden states.

    The task head was trained on the last layer only. An earlier layer may represent the answer in directions that this
    head does not read (arXiv:2303.08112). The answer includes the probability of each of ``tokens`` at every layer. If
    ``tokens`` is empty, it is the likeliest token of the final prediction.
    """

    ANSWERED_BY: ClassVar[str] = "logit_lens.answer"

    blank: int = 0
    tokens: tuple[int, ...] = ()
    top: int = 5


@dataclass(frozen=True)
class NextLens(Decoding[Layers]):
    """A request for the logit lens of the next token, at the last token of a causal model.

    Tokens are displayed as in NextCandidate: "␣" precedes a token that begins a word, if the vocabulary marks words.
    """

    ANSWERED_BY: ClassVar[str] = "logit_lens.answer"
    HEAD: ClassVar[str] = CAUSAL

    tokens: tuple[int, ...] = ()
    top: int = 5


@dataclass(frozen=True, eq=False)
class SurprisalScores:
    """The log-probabilities of some tokens of a text; ``places`` are the indices of these tokens in ``row``."""

    row: TokenRow
    places: tuple[int, ...]
    log_probabilities: FloatArray  # (place,) float32, natural log-probabilities of the text's own tokens
    total: int  # number of tokens in the text that can be scored
    mask: str  # the model's mask token, which may occur in the text


@dataclass(frozen=True)
class SurprisalRequest(PredictRequest[SurprisalScores]):
    """A request for the log-probabilities of tokens ``start`` to ``stop``, each masked in a separate pass.

    The score is the pseudo-log-likelihood of arXiv:1910.14659. Later tokens of the same word are masked too, because
    they would reveal the token (arXiv:2305.10588, "within-word l2r"). Special tokens and typed blanks are read but not
    scored. ``stop`` may exceed the number of tokens.
    """

    ANSWERED_BY: ClassVar[str] = "masked_words.score_tokens"
    HEAD: ClassVar[str] = MASKED

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    start: int = 0
    stop: int = 1
