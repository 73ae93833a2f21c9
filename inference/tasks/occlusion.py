"""Which words decide what the model puts in a blank?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.tasks.masked_words import BlankRequest, Guess


@dataclass(frozen=True, eq=False)
class OcclusionResult:
    """The answer, for a part of the words. Above zero, the word speaks for the piece."""

    row: TokenRow
    runs: tuple[tuple[int, int], ...]  # (start, stop) among the tokens, a word each
    drops: FloatArray  # (word,) by how much the piece's natural logarithm falls when the word is hidden too, float32
    guess: Guess  # the piece that is explained, with every word there
    total: int  # words that the whole text has to leave out


@dataclass(frozen=True)
class OcclusionRequest(BlankRequest[OcclusionResult]):
    """Words number ``start`` to ``stop`` hidden one at a time: what then becomes of piece ``token`` in the blank.

    The mask token stands where the word was, so that the others keep their places. Erasure, arXiv:1612.08220.
    ``token`` -1 is the likeliest piece.
    """

    ANSWERED_BY: ClassVar[str] = "occlusion"

    blank: int = 0
    token: int = -1
    start: int = 0
    stop: int = 1


@dataclass(frozen=True, eq=False)
class GradientResult:
    """The answer, for a part of the path. Summed over all parts, values add up to the whole path's rise."""

    row: TokenRow
    values: FloatArray  # (token,) natural logarithms, float32; zero for tokens that are the same at both ends
    start: float  # the piece's log-probability where this part of the path begins
    end: float  # and where it ends
    delta: float  # sum of the values minus (end - start): what the steps of the sum have missed


@dataclass(frozen=True)
class Gradients(BlankRequest[GradientResult]):
    """Integrated gradients (arXiv:1703.01365) of piece ``token``'s log-probability along part ``part`` of ``parts``.

    The path runs straight from the text with every word hidden to the text itself, through the word vectors; parts
    of it add up. ``steps`` points of each part are visited (Gauss-Legendre).
    """

    ANSWERED_BY: ClassVar[str] = "integrated_gradients"

    blank: int = 0
    token: int = -1
    part: int = 0
    parts: int = 1
    steps: int = 8
