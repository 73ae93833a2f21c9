"""Requests for written text: decoding token by token, beams and teacher forcing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from attention.edits import Edit
from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.task_heads import CAUSAL, WRITES
from inference.tasks.model_request import Answer, PredictRequest


@dataclass(frozen=True)
class Decoding(PredictRequest[Answer]):
    """A request about a text that a model is generating.

    ``text`` is the prompt of a decoder, or the source of a translation. ``written`` are the ids of the generated tokens
    so far, without the start token of a translation. ``edits`` (attention.edits) apply to every pass; their token
    positions are those in the trace of the whole text.
    """

    text: str = ""
    written: tuple[int, ...] = ()
    cut: int | None = None  # the number of tokens of ``text`` to read
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class NextCandidate:
    """A candidate for the next token, with its probability and its rank among all tokens."""

    token: int
    piece: str  # as displayed; "␣" begins a word if the tokenizer marks words, "⏎" is a line break
    text: str  # the text that it adds
    probability: float  # in the model's own distribution
    rank: int  # in that distribution, 1 for the most probable token
    drawn: float  # probability after the model's rules, temperature, top-k and top-p; 0 if it cannot be drawn
    ends: bool  # True for an end token


@dataclass(frozen=True, eq=False)
class DecodingStep:
    """The model's prediction of the next token, with the attention of the last token.

    ``looks`` (layer, head, key) is the decoder's attention from the last token to all tokens that it reads, itself
    included. ``across`` (layer, head, source token) is its cross-attention in a translation. Both are float32 and
    read-only, or None if the architecture does not report them step by step.
    """

    row: TokenRow  # the decoder's input: the prompt or the start token, then the written tokens
    source: TokenRow | None  # the encoder's input in a translation
    text: str  # the written tokens as text
    candidates: tuple[NextCandidate, ...]  # most probable first, in the model's own distribution
    greedy: NextCandidate  # the choice of greedy decoding, with the model's own rules (forced and banned tokens)
    chosen: NextCandidate  # the token drawn with the seed of the request
    entropy: float  # bits, of the model's own distribution
    entropy_drawn: float  # bits, of the distribution that is sampled
    possible: int  # number of tokens that can be drawn
    vocabulary: int
    ended: bool  # True if the last token ends the text; no token may follow it
    room: int  # tokens that may still be written, up to the length limit of the model or of a translation
    cached: bool  # True if only the last token was computed, with the key-value cache
    looks: FloatArray | None
    across: FloatArray | None


@dataclass(frozen=True)
class NextStep(Decoding[DecodingStep]):
    """A request for the ``top`` most probable next tokens, and for a token sampled with these options.

    The model's own rules, such as banned tokens, are applied first. Then logits are divided by ``temperature``, and
    only the ``top_k`` most probable tokens are kept (0: all). Of these, the fewest tokens with a total probability of
    at least ``top_p`` are kept (100: all). ``temperature`` and ``top_p`` are integers in hundredths, which a URL
    represents exactly. The sample depends only on ``seed`` and the number of generated tokens.
    """

    ANSWERED_BY: ClassVar[str] = "decoding.answer"

    top: int = 12
    temperature: int = 100
    top_k: int = 0
    top_p: int = 100
    seed: int = 0
    also: tuple[int, ...] = ()  # tokens that are candidates regardless of their probability


@dataclass(frozen=True)
class NextToken(NextStep):
    """A request for the next token of a decoder."""

    HEAD: ClassVar[str] = CAUSAL


@dataclass(frozen=True)
class NextTarget(NextStep):
    """A request for the next token of an encoder-decoder, such as a translation model."""

    HEAD: ClassVar[str] = WRITES


@dataclass(frozen=True)
class Beam:
    """A hypothesis of beam search; ``score`` is the sum of its tokens' log-probabilities."""

    tokens: tuple[int, ...] = ()
    score: float = 0.0
    text: str = ""


Fate = Literal["kept", "ended", "dropped"]


@dataclass(frozen=True)
class BeamBranch:
    """A continuation of a beam by a token, which a step of beam search considered.

    ``parent`` is the index of the beam. ``fate`` is "kept", "ended" (the token ends the text) or "dropped".
    """

    parent: int  # index of the beam that it continues
    token: int
    piece: str
    score: float  # of the whole beam
    fate: Fate


@dataclass(frozen=True)
class BeamStep:
    """A step of beam search.

    ``beams`` are the beams that continue, best first. ``finished`` are all beams that have ended so far, best first,
    with scores normalised by the model's length penalty. ``branches`` are all continuations that this step considered.
    """

    beams: tuple[Beam, ...]
    finished: tuple[Beam, ...]
    branches: tuple[BeamBranch, ...]
    done: bool


@dataclass(frozen=True)
class NextBeams(Decoding[BeamStep]):
    """A request for the next step of beam search, given the current ``beams`` and the ``finished`` beams.

    Leave both empty in the first step, and ``written`` in every step. With two or more beams, the search gives the same
    tokens as transformers' ``generate``.
    """

    ANSWERED_BY: ClassVar[str] = "decoding.step_beams"
    HEAD: ClassVar[str] = WRITES

    width: int = 4
    beams: tuple[Beam, ...] = ()
    finished: tuple[Beam, ...] = ()


@dataclass(frozen=True, eq=False)
class ForcedSteps:
    """The probabilities of the tokens of a given translation under each edit set, with teacher forcing.

    ``logs`` (set, step) float32 are the log-probabilities of the given tokens. ``likeliest`` (set, step) int32 are the
    most probable tokens, and ``pieces`` these tokens as displayed.
    """

    logs: FloatArray
    likeliest: FloatArray
    pieces: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ForcedTarget(PredictRequest[ForcedSteps]):
    """A request to score the translation ``written`` (token ids) of ``text`` token by token, with teacher forcing.

    An end token is scored like any other token. Edits of tokens beyond the end of the translation are ignored.
    """

    ANSWERED_BY: ClassVar[str] = "decoding.force_target"
    HEAD: ClassVar[str] = WRITES

    text: str = ""
    written: tuple[int, ...] = ()
    cut: int | None = None
    edits: tuple[tuple[Edit, ...], ...] = ((),)
