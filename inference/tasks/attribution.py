"""Requests for the influence of words on other words and on predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.tasks.model_request import InspectRequest
from inference.tasks.predictions import BlankRequest, Guess

MOST_TOKENS = 128  # most tokens of a text in these requests
Run = tuple[int, int]  # (start, stop) of a word in tokens


@dataclass(frozen=True, eq=False)
class WordScores:
    """The values of an attribution method, float32 and read-only; their axes depend on the request.

    For integrated gradients, ``rise`` is the rise of the score on the path. ``missed`` is the error of the numerical
    integration: the sum of the values minus ``rise``.
    """

    values: FloatArray
    missed: float = 0.0
    rise: float = 0.0


@dataclass(frozen=True)
class FocusRequest(InspectRequest[WordScores]):
    """A request about the vector of the word ``focus``, the mean of its tokens' vectors in the last layer.

    UserError is raised for texts of more than MOST_TOKENS tokens and for encoder-decoders.
    """

    ANSWERED_BY: ClassVar[str] = "word_influence.answer"

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    focus: Run = (0, 1)


@dataclass(frozen=True)
class FlowToWord(FocusRequest):
    """A request for the attention flow (arXiv:2005.00928) from a word to every token, shape (token,), 0 to 1.

    The flow is the mean over the tokens of the word.
    """


@dataclass(frozen=True)
class ZeroedValues(FocusRequest):
    """A request for value zeroing (arXiv:2301.12971) in a layer, shape (query, key), from 0 to 2.

    Each entry is 1 - cosine of the token's vector after the layer with and without the key's value. ``focus`` is
    ignored.
    """

    layer: int = 0


@dataclass(frozen=True)
class WordGradients(FocusRequest):
    """A request for the derivative of a word's vector with respect to each embedding: norms (token,).

    They are Frobenius norms of the Jacobian, estimated from ``directions`` random orthogonal directions of a fixed
    seed. The square of the estimate is unbiased, and exact if there are as many directions as channels.
    """

    directions: int = 32


@dataclass(frozen=True)
class WordPath(FocusRequest):
    """A request for integrated gradients (arXiv:1703.01365) of a cosine similarity, shape (token,), signed.

    All word embeddings grow from zero to their values in ``steps`` steps. The similarity is that of the word's vector
    on the way to its final value.
    """

    steps: int = 32


@dataclass(frozen=True)
class WithoutWords(FocusRequest):
    """A request for the effect of each of ``words`` on the word ``focus``, shape (word,), from 0 to 2.

    The word is masked as a key in every layer. The effect is 1 - cosine of the focus's vector with and without it.
    """

    words: tuple[Run, ...] = ()


AnyFocus = FlowToWord | ZeroedValues | WordGradients | WordPath | WithoutWords


@dataclass(frozen=True, eq=False)
class OcclusionResult:
    """The fall of a prediction's log-probability if each word is hidden in turn.

    It is positive for words that support the prediction.
    """

    row: TokenRow
    runs: tuple[tuple[int, int], ...]  # (start, stop) of each word in tokens
    drops: FloatArray  # (word,) float32, drop of the token's log-probability if the word is hidden too
    guess: Guess  # the explained token, with its probability in the full text
    total: int  # number of words in the text that can be hidden


@dataclass(frozen=True)
class OcclusionRequest(BlankRequest[OcclusionResult]):
    """A request to hide the words ``start`` to ``stop`` in turn, and score the prediction ``token`` each time.

    A ``token`` of -1 is the most probable prediction. The mask token replaces each token of a word, so that the other
    tokens keep their positions (erasure, arXiv:1612.08220).
    """

    ANSWERED_BY: ClassVar[str] = "masked_words.occlude"

    blank: int = 0
    token: int = -1
    start: int = 0
    stop: int = 1


@dataclass(frozen=True, eq=False)
class GradientResult:
    """The attributions for a part of the path; those of all parts sum to the rise of the log-probability."""

    row: TokenRow
    values: FloatArray  # (token,) float32, in nats; zero for tokens that are equal at both ends
    start: float  # the token's log-probability at the start of this part of the path
    end: float  # the token's log-probability at the end of this part
    delta: float  # sum of the values minus (end - start), the error of the numerical integration


@dataclass(frozen=True)
class Gradients(BlankRequest[GradientResult]):
    """A request for integrated gradients (arXiv:1703.01365) of a token's log-probability in a blank.

    The path in the word embeddings is straight, from the text with every word hidden to the text itself. The answer
    covers part ``part`` of ``parts``, and the answers of all parts sum to the whole. Each part is evaluated at
    ``steps`` points (Gauss-Legendre).
    """

    ANSWERED_BY: ClassVar[str] = "word_influence.integrate_gradients"

    blank: int = 0
    token: int = -1
    part: int = 0
    parts: int = 1
    steps: int = 8
