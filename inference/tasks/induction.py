"""Induction heads, found by a test with repeated random tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.task_heads import CAUSAL
from inference.tasks.model_request import PredictRequest


@dataclass(frozen=True, eq=False)
class InductionScores:
    """The results of the test, as means over its texts.

    All (layer, head) arrays are float32, from 0 to 1, and read-only. ``losses`` is (copy,): the mean negative
    log-likelihood of each copy's tokens in nats. Only the repetition makes later copies more predictable. The
    first token of each copy is left out, since the first token of the second copy follows a token that nothing has
    followed before.
    """

    # attention of repeated tokens to the successor of their earlier occurrence (attention.roles.prefix_matching_score)
    matching: FloatArray
    control: FloatArray  # the same positions in texts of the same length without repeats
    previous: FloatArray  # attention to the previous token
    first: FloatArray  # attention to the first token
    even: float  # ``matching`` of a head with uniform attention
    losses: FloatArray
    row: TokenRow  # the first text
    start: int  # number of tokens that the tokenizer adds in front


@dataclass(frozen=True)
class InductionHeads(PredictRequest[InductionScores]):
    """A request for the prefix-matching score of every head of a causal model (arXiv:2209.11895).

    There are ``count`` texts of ``repeats`` copies of ``length`` different random tokens, drawn with ``seed``. A
    mean over requests of different seeds is a mean over all their texts.
    """

    ANSWERED_BY: ClassVar[str] = "induction"
    HEAD: ClassVar[str] = CAUSAL

    length: int = 25
    repeats: int = 2
    count: int = 4
    seed: int = 0
