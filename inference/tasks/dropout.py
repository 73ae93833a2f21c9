"""The variation of a prediction under dropout, as in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from inference.tasks.masked_words import BlankRequest, Guess


@dataclass(frozen=True, eq=False)
class DropoutResult:
    """Passes over a text with dropout and a pass without, all for the first blank."""

    undropped: Guess  # the most probable token without dropout
    probabilities: FloatArray  # (pass,) float32, for that token
    likeliest: tuple[str, ...]  # the most probable token of each pass
    cosines: FloatArray  # (pass,) float32: the blank's last hidden state, with and without dropout


@dataclass(frozen=True)
class Dropout(BlankRequest[DropoutResult]):
    """A request for ``passes`` passes with ``share`` percent dropout at every dropout layer.

    Each value is set to zero with that probability, drawn with ``seed``, and the others are divided by the
    probability of being kept (doi:10.5555/2627435.2670313). In BERT, dropout applies to the embeddings, the
    attention weights, and the outputs of attention and feed-forward sublayers.
    """

    ANSWERED_BY: ClassVar[str] = "dropout"

    share: int = 10
    passes: int = 8
    seed: int = 0
