"""Which heads look back to what followed the same token before? The test with repeated random tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.task_heads import CAUSAL
from inference.tasks.model_request import PredictRequest


@dataclass(frozen=True, eq=False)
class InductionScores:
    """What the test found, means over its texts. All (layer, head) arrays are float32, from 0 to 1, and read-only.

    ``losses`` is (copy,): how surprised the model is by a token of each copy, in nats, the mean of the negative
    logarithm of what it gave the token. Nothing but the repetition makes later copies less surprising. The first token
    of each copy is left out: the second copy's follows a token that nothing has followed yet.
    """

    # attention of tokens that came before to what followed them then (attention.roles.prefix_matching_score)
    matching: FloatArray
    control: FloatArray  # the same places in texts of the same lengths where nothing comes again
    previous: FloatArray  # attention to the token before
    first: FloatArray  # attention to the first token of all
    even: float  # ``matching`` of a head that looks everywhere alike
    losses: FloatArray
    row: TokenRow  # the first text
    start: int  # tokens that the model's tokenizer puts in front


@dataclass(frozen=True)
class InductionHeads(PredictRequest[InductionScores]):
    """The prefix-matching score of every head of a model that continues texts (arXiv:2209.11895).

    ``count`` texts of ``repeats`` copies of ``length`` different random tokens. ``seed`` decides which; another seed
    asks about other ones, and means over several questions are means over all their texts.
    """

    ANSWERED_BY: ClassVar[str] = "induction"
    HEAD: ClassVar[str] = CAUSAL

    length: int = 25
    repeats: int = 2
    count: int = 4
    seed: int = 0
