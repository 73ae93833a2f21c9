"""What does a decoder write next, and what does it look at before it does?

A text is written token by token. Each question names the tokens that stand already, so that it is a pure function of
what it names: a page goes on by asking with one token more, and another way by asking with another token.
"""

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
    """A text that is being written.

    ``text`` is the prompt of a model that goes on, or the source of one that translates; ``written`` are the tokens
    written since, in the model's numbers, the start token of a translation not among them. ``edits`` hold in every
    pass (attention.edits); a cut edge or a hidden token counts positions of the whole text as in its trace.
    """

    text: str = ""
    written: tuple[int, ...] = ()
    cut: int | None = None  # read the first so many tokens of ``text`` only
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class NextCandidate:
    """One token that may come next."""

    token: int
    piece: str  # as shown beside other pieces; "␣" begins a word where the tokenizer marks that, "⏎" is a line's end
    text: str  # what the written text gains by it
    probability: float  # by the model alone
    rank: int  # by it, 1 for the likeliest of the vocabulary
    drawn: float  # under the model's own rules and the reader's temperature, top-k and top-p; 0: cannot be drawn
    ends: bool  # whether it ends the text


@dataclass(frozen=True, eq=False)
class DecodingStep:
    """What the model says about the token that comes next, and what it looked at to say so.

    ``looks`` is (layer, head, key), the decoder's attention of the newest token over all that it reads, itself
    included; ``across`` is (layer, head, source token) for a translation. Both are float32 and read-only; None for an
    architecture that does not give them step by step.
    """

    row: TokenRow  # what the decoder reads: prompt and written tokens, or start token and written tokens
    source: TokenRow | None  # what a translation's encoder reads
    text: str  # the written tokens as text
    candidates: tuple[NextCandidate, ...]  # the likeliest by the model alone first
    greedy: NextCandidate  # what greedy decoding writes here, by the model's own rules too (forced and banned tokens)
    chosen: NextCandidate  # what the rule draws here with its seed
    entropy: float  # bits, of the model's own distribution
    entropy_drawn: float  # bits, under the rule
    possible: int  # how many tokens the rule leaves
    vocabulary: int
    ended: bool  # whether the newest token ends the text; tokens written after an end are refused
    room: int  # tokens that may still be written: to what the model reads, or to a translation's own limit
    cached: bool  # whether only the newest token was computed, the rest taken from the key-value cache
    looks: FloatArray | None
    across: FloatArray | None


@dataclass(frozen=True)
class NextStep(Decoding[DecodingStep]):
    """The ``top`` likeliest next tokens, and one drawn under a rule.

    The rule (attention.softmax) is applied to what the model's own rules leave (banned tokens, forced ones): logits
    over ``temperature``, then the ``top_k`` likeliest only (0: all), then the fewest that together reach ``top_p``
    (1: all); ``seed`` and the number of written tokens decide the draw. ``temperature`` and ``top_p`` are in
    hundredths, so that an address can say them exactly.
    """

    ANSWERED_BY: ClassVar[str] = "decoding"

    top: int = 12
    temperature: int = 100
    top_k: int = 0
    top_p: int = 100
    seed: int = 0
    also: tuple[int, ...] = ()  # tokens to be among the candidates whatever their probability


@dataclass(frozen=True)
class NextToken(NextStep):
    """For a model that goes on with a text."""

    HEAD: ClassVar[str] = CAUSAL


@dataclass(frozen=True)
class NextTarget(NextStep):
    """For a model that writes a translation, or any other text made from a source."""

    HEAD: ClassVar[str] = WRITES


@dataclass(frozen=True)
class Beam:
    """One way to write, among several followed at once. ``score`` is the sum of its tokens' log-probabilities."""

    tokens: tuple[int, ...] = ()
    score: float = 0.0
    text: str = ""


Fate = Literal["kept", "ended", "dropped"]


@dataclass(frozen=True)
class BeamBranch:
    """One continuation that a step of beam search looked at."""

    parent: int  # which of the beams before it goes on with
    token: int
    piece: str
    score: float  # of the whole way
    fate: Fate


@dataclass(frozen=True)
class BeamStep:
    """One step of beam search.

    ``beams`` are those that go on, the best first; ``finished`` all that have ended so far, with their scores over
    their lengths (the model's own length penalty), the best first; ``branches`` what was looked at in this step.
    """

    beams: tuple[Beam, ...]
    finished: tuple[Beam, ...]
    branches: tuple[BeamBranch, ...]
    done: bool


@dataclass(frozen=True)
class NextBeams(Decoding[BeamStep]):
    """A step of beam search from ``beams`` (none: the beginning) and those ``finished``; ``written`` stays empty.

    Its end is what transformers' ``generate`` gives with as many beams, two or more, token for token.
    """

    ANSWERED_BY: ClassVar[str] = "beams"
    HEAD: ClassVar[str] = WRITES

    width: int = 4
    beams: tuple[Beam, ...] = ()
    finished: tuple[Beam, ...] = ()
