"""BERT's training task: a text with a share of corrupted tokens, and the model's loss on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.tokens import TokenRow
from inference.task_heads import MASKED
from inference.tasks.model_request import PredictRequest

HIDDEN, REPLACED, KEPT = "hidden", "replaced", "kept"


@dataclass(frozen=True)
class Chosen:
    """A token to predict; ``loss`` is the negative natural logarithm of its probability."""

    position: int
    seen: str  # the token in the model's input
    how: str  # HIDDEN, REPLACED or KEPT
    probability: float
    loss: float


@dataclass(frozen=True)
class CorruptedText:
    """A corrupted text with its losses; the training loss is their mean over ``chosen``."""

    row: TokenRow  # the text before corruption
    chosen: tuple[Chosen, ...]


@dataclass(frozen=True)
class Corruption(PredictRequest[CorruptedText]):
    """A request to corrupt 15 % of the tokens, at least a single token, drawn with ``seed``.

    Of these tokens, 80 % are hidden, 10 % are replaced by a random token that is not special, and 10 % are kept;
    each is drawn independently (arXiv:1810.04805, section 3.1).
    """

    ANSWERED_BY: ClassVar[str] = "corruption"
    HEAD: ClassVar[str] = MASKED

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    seed: int = 0
