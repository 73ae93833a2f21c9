"""What would the head say of a blank, or of the next token, if the layers ended here? (The logit lens.)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from inference.task_heads import CAUSAL
from inference.tasks.decoding import Decoding
from inference.tasks.masked_words import BlankRequest, Guess


@dataclass(frozen=True, eq=False)
class Layers:
    """The answer: row 0 is the embedding, row l what layer l hands on, the last row the model's own answer."""

    guesses: tuple[tuple[Guess, ...], ...]  # by row, the likeliest first
    followed: tuple[Guess, ...]  # the pieces that were asked about, as the last row has them
    probabilities: FloatArray  # (row, followed) float32
    ranks: FloatArray  # (row, followed) int64, from 1
    normed: bool  # whether rows before the last had to go through the model's closing norm first


@dataclass(frozen=True)
class Lens(BlankRequest[Layers]):
    """Hidden states of blank number ``blank`` read with the model's own head, layer by layer.

    The head was trained on the last layer only; earlier states may hold an answer in directions that it does not read
    (arXiv:2303.08112). ``tokens`` are pieces to follow; without any, the likeliest of the last row is.
    """

    ANSWERED_BY: ClassVar[str] = "logit_lens"

    blank: int = 0
    tokens: tuple[int, ...] = ()
    top: int = 5


@dataclass(frozen=True)
class NextLens(Decoding[Layers]):
    """The same of the token that comes next, from the hidden states of the newest one, for a model that goes on.

    Pieces are shown as in a Step: "␣" before one that begins a word, where the vocabulary marks that.
    """

    ANSWERED_BY: ClassVar[str] = "logit_lens"
    HEAD: ClassVar[str] = CAUSAL

    tokens: tuple[int, ...] = ()
    top: int = 5
