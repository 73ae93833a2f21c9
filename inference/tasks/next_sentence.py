"""Next-sentence prediction for two texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.tokens import TokenRow
from inference.task_heads import NEXT_SENTENCE
from inference.tasks.model_request import PredictRequest

NEXT, ORDER = "next", "order"


@dataclass(frozen=True)
class NextSentenceAnswer:
    """The prediction of the next-sentence head.

    ``judges`` is the task of the head. NEXT: the second text follows the first, or is from elsewhere (BERT,
    arXiv:1810.04805). ORDER: two neighbouring texts are in order, or swapped (ALBERT, arXiv:1909.11942). In both,
    class 0 is "yes".
    """

    probability: float  # that the second text follows the first
    scores: tuple[float, float]  # before the softmax: yes, no
    judges: str
    row: TokenRow  # both texts, as the model read them


@dataclass(frozen=True)
class NextSentence(PredictRequest[NextSentenceAnswer]):
    """A request for the probability that ``pair`` follows ``text``; ``cut`` limits the tokens of both."""

    ANSWERED_BY: ClassVar[str] = "next_sentence"
    HEAD: ClassVar[str] = NEXT_SENTENCE

    text: str = ""
    pair: str = ""
    cut: int | None = None
