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
    """The values of an attribution method, float32 and read-only; the request defines their axes.

    For integrated gradients, ``rise`` is the rise of the score on the path, and ``missed`` is the sum of the
    values minus ``rise``, the error of the numerical integration.
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
    """A request for Frobenius norms of the Jacobian of the word's vector in each embedding, shape (token,).

    The norms are estimated from ``directions`` random orthogonal directions of a fixed seed, and are exact if
    there are as many directions as channels. The square of the estimate is unbiased.
    """

    directions: int = 32


@dataclass(frozen=True)
class WordPath(FocusRequest):
    """A request for integrated gradients (arXiv:1703.01365) of a cosine similarity, shape (token,), signed.

    The similarity is that of the word's vector to its final value, while all word embeddings grow from zero to
    their values in ``steps`` steps.
    """

    steps: int = 32


@dataclass(frozen=True)
class WithoutWords(FocusRequest):
    """A request for the causal effect of each of ``words``, shape (word,), from 0 to 2.

    No token attends to the word in any layer. The effect is 1 - cosine of the focus's vector with and without the
    word.
    """

    words: tuple[Run, ...] = ()


AnyFocus = FlowToWord | ZeroedValues | WordGradients | WordPath | WithoutWords


@dataclass(frozen=True, eq=False)
class OcclusionResult:
    """The fall of a prediction's log-probability without each word; a positive value supports the prediction."""

    row: TokenRow
    runs: tuple[tuple[int, int], ...]  # (start, stop) of each word in tokens
    drops: FloatArray  # (word,) float32, drop of the token's log-probability if the word is hidden too
    guess: Guess  # the explained token, with its probability in the full text
    total: int  # number of words in the text that can be hidden


@dataclass(frozen=True)
class OcclusionRequest(BlankRequest[OcclusionResult]):
    """A request to hide the words ``start`` to ``stop`` in turn and score a token in the blank.

    The mask token replaces each token of the word, so that the other tokens keep their positions (erasure,
    arXiv:1612.08220). ``token`` is the scored token, -1 the most probable.
    """

    ANSWERED_BY: ClassVar[str] = "masked_words.occlude"

    blank: int = 0
    token: int = -1
    start: int = 0
    stop: int = 1


@dataclass(frozen=True, eq=False)
class GradientResult:
    """The attributions for a part of the path; over all parts, they add up to the rise of the log-probability."""

    row: TokenRow
    values: FloatArray  # (token,) float32, in nats; zero for tokens that are equal at both ends
    start: float  # the token's log-probability at the start of this part of the path
    end: float  # the token's log-probability at the end of this part
    delta: float  # sum of the values minus (end - start), the error of the numerical integration


@dataclass(frozen=True)
class Gradients(BlankRequest[GradientResult]):
    """A request for integrated gradients (arXiv:1703.01365) of token ``token``'s log-probability.

    The straight path in the word embeddings leads from the text with every word hidden to the text itself. The
    answer covers part ``part`` of ``parts``, and the parts add up. Each part is evaluated at ``steps`` points
    (Gauss-Legendre).
    """

    ANSWERED_BY: ClassVar[str] = "word_influence.integrate_gradients"

    blank: int = 0
    token: int = -1
    part: int = 0
    parts: int = 1
    steps: int = 8
