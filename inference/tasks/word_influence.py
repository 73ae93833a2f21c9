"""What a word's last vector owes to each word of the text: five ways of asking the model itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from inference.tasks.model_request import InspectRequest

MOST_TOKENS = 128  # of a text that these questions are asked about
Run = tuple[int, int]  # (start, stop) among the tokens: a word


@dataclass(frozen=True, eq=False)
class WordScores:
    """One way's answer, float32 and read-only; see the question for its axes.

    ``missed``: for integrated gradients, what the steps of the sum have missed of ``rise``, what the path rises by.
    """

    values: FloatArray
    missed: float = 0.0
    rise: float = 0.0


@dataclass(frozen=True)
class FocusRequest(InspectRequest[WordScores]):
    """One text and the word ``focus`` in it; its vector is the mean of its pieces' vectors in the last layer.

    Refused for texts of more than MOST_TOKENS tokens and for models that read one text and write another.
    """

    ANSWERED_BY: ClassVar[str] = "word_influence"

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    focus: Run = (0, 1)


@dataclass(frozen=True)
class FlowToWord(FocusRequest):
    """Attention flow (arXiv:2005.00928), (token,): the mean over the word's pieces. Between 0 and 1."""


@dataclass(frozen=True)
class ZeroedValues(FocusRequest):
    """Value zeroing (arXiv:2301.12971) in one layer, (query, key): 1 - cosine of each token's vector after the layer
    with and without each key's value. ``focus`` does not matter. Between 0 and 2."""

    layer: int = 0


@dataclass(frozen=True)
class WordGradients(FocusRequest):
    """Frobenius norms of the Jacobian of the word's vector in each token's word vector, (token,).

    Estimated from ``directions`` random orthogonal directions of a fixed seed; exact when they are as many as
    channels. The square of the estimate has the right mean.
    """

    directions: int = 32


@dataclass(frozen=True)
class WordPath(FocusRequest):
    """Integrated gradients (arXiv:1703.01365), (token,): shares, signed, of how alike the word's vector becomes to
    what it is (cosine) while all word vectors grow from zero to their size, in ``steps`` steps."""

    steps: int = 32


@dataclass(frozen=True)
class WithoutWords(FocusRequest):
    """The causal effect of each of ``words``, (word,): nothing sees it in any layer. 1 - cosine of the focus's vector
    with and without it. Between 0 and 2."""

    words: tuple[Run, ...] = ()


AnyFocus = FlowToWord | ZeroedValues | WordGradients | WordPath | WithoutWords
