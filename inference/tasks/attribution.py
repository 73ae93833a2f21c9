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
    """The influence of words by an attribution method, float32 and read-only; the axes depend on the request.

    For integrated gradients, ``rise`` is the change of the explained score from the start to the end of the path.
    ``missed`` is the error of the numerical integration: the sum of the values minus ``rise``.
    """

    values: FloatArray
    missed: float = 0.0
    rise: float = 0.0


@dataclass(frozen=True)
class FocusRequest(InspectRequest[WordScores]):
    """A request about the last-layer vector of the word at tokens ``focus``: the mean of the vectors of its tokens.

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
    """A request for value zeroing (arXiv:2301.12971) in layer ``layer``, shape (query, key), from 0 to 2.

    Each entry is 1 - the cosine similarity of the query token's vectors after the layer, with and without the value
    vector of the key. ``focus`` is ignored.
    """

    layer: int = 0


@dataclass(frozen=True)
class WordGradients(FocusRequest):
    """A request for the sensitivity of a word's vector to each token's embedding: norms of derivatives, (token,).

    Each is the Frobenius norm of a Jacobian, estimated from ``directions`` random orthogonal directions with a fixed
    seed. The square of the estimate is unbiased; it is exact if there are as many directions as channels.
    """

    directions: int = 32


@dataclass(frozen=True)
class WordPath(FocusRequest):
    """A request for integrated gradients (arXiv:1703.01365) of a cosine similarity, shape (token,), signed.

    The path scales all word embeddings from zero to their values in ``steps`` steps. The explained score is the cosine
    similarity of the word's vector at a point of the path with its vector at the end.
    """

    steps: int = 32


@dataclass(frozen=True)
class WithoutWords(FocusRequest):
    """A request for the effect of each of ``words`` on the word ``focus``, shape (word,), from 0 to 2.

    Each word in turn is masked as a key in every layer. The effect is 1 - the cosine similarity of the vectors of
    ``focus`` with and without this mask.
    """

    words: tuple[Run, ...] = ()


AnyFocus = FlowToWord | ZeroedValues | WordGradients | WordPath | WithoutWords


@dataclass(frozen=True, eq=False)
class OcclusionResult:
    """The fall of a prediction's log-probability when each word is hidden in turn, in nats.

    It is positive for words that support the prediction.
    """

    row: TokenRow
    runs: tuple[tuple[int, int], ...]  # (start, stop) of each word in tokens
    drops: FloatArray  # (word,) float32, drop of the token's log-probability if the word is hidden too
    guess: Guess  # the explained token, with its probability in the full text
    total: int  # number of words in the text that can be hidden


@dataclass(frozen=True)
class OcclusionRequest(BlankRequest[OcclusionResult]):
    """A request to hide words ``start`` to ``stop`` in turn, and to score ``token`` each time as a prediction.

    The prediction is for blank number ``blank``; if ``token`` is -1, the most probable token is scored. The mask token
    replaces each token of a hidden word, so all remaining tokens keep their positions (erasure, arXiv:1612.08220).
    """

    ANSWERED_BY: ClassVar[str] = "masked_words.occlude"

    blank: int = 0
    token: int = -1
    start: int = 0
    stop: int = 1


@dataclass(frozen=True, eq=False)
class GradientResult:
    """The attributions of integrated gradients for a part of the path.

    Summed over all parts, they equal the change of the log-probability over the whole path, up to numerical errors.
    """

    row: TokenRow
    values: FloatArray  # (token,) float32, in nats; zero for tokens that are equal at both ends
    start: float  # the token's log-probability at the start of this part of the path
    end: float  # the token's log-probability at the end of this part
    delta: float  # sum of the values minus (end - start), the error of the numerical integration


@dataclass(frozen=True)
class Gradients(BlankRequest[GradientResult]):
    """A request for integrated gradients (arXiv:1703.01365) of a token's log-probability in a blank.

    The path between word embeddings is straight. It leads from the text with every word hidden to the text itself, and
    is cut into ``parts`` parts. The answer covers part ``part``, evaluated at ``steps`` points (Gauss-Legendre); the
    attributions of all parts are to be added.
    """

    ANSWERED_BY: ClassVar[str] = "word_influence.integrate_gradients"

    blank: int = 0
    token: int = -1
    part: int = 0
    parts: int = 1
    steps: int = 8
