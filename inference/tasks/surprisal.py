"""The surprisal of each token of a text in a bidirectional model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.task_heads import MASKED
from inference.tasks.model_request import PredictRequest


@dataclass(frozen=True, eq=False)
class SurprisalScores:
    """The scores of some tokens; ``places`` are their positions in ``row``, the encoded text."""

    row: TokenRow
    places: tuple[int, ...]
    log_probabilities: FloatArray  # (place,) float32, natural log-probabilities of the text's own tokens
    total: int  # number of tokens in the text that can be scored
    mask: str  # the model's mask token, which may occur in the text


@dataclass(frozen=True)
class SurprisalRequest(PredictRequest[SurprisalScores]):
    """A request for the scores of tokens ``start`` to ``stop`` of a text, with a pass for each token.

    The score is the pseudo-log-likelihood of arXiv:1910.14659, with the later tokens of the same word hidden too
    (arXiv:2305.10588, "within-word l2r"), because they would reveal the token. Special tokens and typed blanks are
    read but not scored. ``stop`` may exceed the number of tokens.
    """

    ANSWERED_BY: ClassVar[str] = "surprisal"
    HEAD: ClassVar[str] = MASKED

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    start: int = 0
    stop: int = 1
