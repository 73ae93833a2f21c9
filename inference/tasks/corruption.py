"""What BERT is given to learn from: a text with a share of its pieces spoilt, and how wrong the model is about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.tokens import TokenRow
from inference.task_heads import MASKED
from inference.tasks.model_request import PredictRequest

HIDDEN, REPLACED, KEPT = "hidden", "replaced", "kept"


@dataclass(frozen=True)
class Chosen:
    """One piece that must be guessed. ``loss`` is the negative natural logarithm of its probability."""

    position: int
    seen: str  # what the model reads there
    how: str  # HIDDEN, REPLACED or KEPT
    probability: float
    loss: float


@dataclass(frozen=True)
class CorruptedText:
    """The answer; the loss that training would see is the mean over ``chosen``."""

    row: TokenRow  # the text before it was spoilt
    chosen: tuple[Chosen, ...]


@dataclass(frozen=True)
class Corruption(PredictRequest[CorruptedText]):
    """A sample of 15 % of the pieces, at least one, drawn with ``seed`` (arXiv:1810.04805, section 3.1).

    Of these, 80 % are hidden, 10 % replaced by any ordinary piece and 10 % kept, each drawn by itself.
    """

    ANSWERED_BY: ClassVar[str] = "corruption"
    HEAD: ClassVar[str] = MASKED

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    seed: int = 0
