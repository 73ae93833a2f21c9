"""Attribution of the prediction in a blank to the words of the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.tasks.masked_words import BlankRequest, Guess


@dataclass(frozen=True, eq=False)
class OcclusionResult:
    """The effects of some of the words; a positive value supports the prediction."""

    row: TokenRow
    runs: tuple[tuple[int, int], ...]  # (start, stop) of each word in tokens
    drops: FloatArray  # (word,) float32, drop of the token's log-probability if the word is hidden too
    guess: Guess  # the explained token, with its probability in the full text
    total: int  # number of words in the text that can be hidden


@dataclass(frozen=True)
class OcclusionRequest(BlankRequest[OcclusionResult]):
    """A request to hide words ``start`` to ``stop`` in turn, and score token ``token`` in the blank.

    The mask token replaces each token of the word, so that the other tokens keep their positions (erasure,
    arXiv:1612.08220). ``token`` -1 is the most probable token.
    """

    ANSWERED_BY: ClassVar[str] = "occlusion"

    blank: int = 0
    token: int = -1
    start: int = 0
    stop: int = 1


@dataclass(frozen=True, eq=False)
class GradientResult:
    """The attributions of a part of the path; over all parts, they add up to the rise on the whole path."""

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

    ANSWERED_BY: ClassVar[str] = "integrated_gradients"

    blank: int = 0
    token: int = -1
    part: int = 0
    parts: int = 1
    steps: int = 8
