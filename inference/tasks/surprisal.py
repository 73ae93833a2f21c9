"""How surprising is each piece of a text to a model that reads both sides?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.task_heads import MASKED
from inference.tasks.model_request import PredictRequest


@dataclass(frozen=True, eq=False)
class SurprisalScores:
    """The answer, a part of a text: ``places`` are positions in ``row``, the text as the model reads it."""

    row: TokenRow
    places: tuple[int, ...]
    log_probabilities: FloatArray  # (place,) natural logarithms of the pieces that stand there, float32
    total: int  # pieces that the whole text has to score
    mask: str  # the model's own mask token, which a reader may have typed


@dataclass(frozen=True)
class SurprisalRequest(PredictRequest[SurprisalScores]):
    """Pieces number ``start`` to ``stop`` of a text, each guessed with itself and the rest of its word hidden.

    A pass for each piece: the pseudo-log-likelihood of arXiv:1910.14659, with the later pieces of the same word
    hidden too (arXiv:2305.10588, "within-word l2r"), because a word's beginning gives its end away. Special tokens,
    and blanks that the reader typed, are read and not scored. ``stop`` may lie behind the end.
    """

    ANSWERED_BY: ClassVar[str] = "surprisal"
    HEAD: ClassVar[str] = MASKED

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    start: int = 0
    stop: int = 1
