"""The logit lens: the head's prediction for a blank, or for the next token, after each layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from inference.task_heads import CAUSAL
from inference.tasks.decoding import Decoding
from inference.tasks.masked_words import BlankRequest, Guess


@dataclass(frozen=True, eq=False)
class Layers:
    """The predictions by row: the embedding, the output of each layer, and last the model's own output."""

    guesses: tuple[tuple[Guess, ...], ...]  # by row, most probable first
    followed: tuple[Guess, ...]  # the requested tokens, with the probabilities of the last row
    probabilities: FloatArray  # (row, followed) float32
    ranks: FloatArray  # (row, followed) int64, from 1
    normed: bool  # True if the model's final norm was applied to the rows before the last


@dataclass(frozen=True)
class Lens(BlankRequest[Layers]):
    """A request for the logit lens at blank number ``blank``.

    The head was trained on the last layer only; earlier states may hold an answer in directions that it does not
    read (arXiv:2303.08112). ``tokens`` are the tokens to follow; without any, the most probable token of the last
    row is followed.
    """

    ANSWERED_BY: ClassVar[str] = "logit_lens"

    blank: int = 0
    tokens: tuple[int, ...] = ()
    top: int = 5


@dataclass(frozen=True)
class NextLens(Decoding[Layers]):
    """A request for the logit lens at the last token of a causal model, about the next token.

    Tokens are displayed as in a NextCandidate: "␣" begins a word, if the vocabulary marks words.
    """

    ANSWERED_BY: ClassVar[str] = "logit_lens"
    HEAD: ClassVar[str] = CAUSAL

    tokens: tuple[int, ...] = ()
    top: int = 5
