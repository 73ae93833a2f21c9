"""How far does a guess vary while a share of a model's numbers is dropped at random, as in training?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from inference.tasks.masked_words import BlankRequest, Guess


@dataclass(frozen=True, eq=False)
class DropoutResult:
    """Several passes over one text with dropout, beside the pass without it; all about the first blank."""

    undropped: Guess  # the likeliest piece without dropout
    probabilities: FloatArray  # (pass,) float32, of that piece
    likeliest: tuple[str, ...]  # by pass: the piece that it puts first
    cosines: FloatArray  # (pass,) float32: the blank's last vector against the one without dropout


@dataclass(frozen=True)
class Dropout(BlankRequest[DropoutResult]):
    """``passes`` passes with ``share`` hundredths dropped wherever training drops some; ``seed`` draws which.

    Each of those numbers is set to zero with that probability, and what stays is divided by the probability of staying
    (doi:10.5555/2627435.2670313). In BERT these are the embeddings, the attention weights, and what attention and
    feed-forward part hand on.
    """

    ANSWERED_BY: ClassVar[str] = "dropout"

    share: int = 10
    passes: int = 8
    seed: int = 0
