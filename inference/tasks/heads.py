"""Requests for scores of heads: induction and annotated links."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import ClassVar

from attention.annotations import AnnotatedText
from attention.mask import BoolArray, FloatArray
from attention.tokens import TokenRow
from inference.task_heads import CAUSAL, RANDOM
from inference.tasks.model_request import InspectRequest, PredictRequest


@dataclass(frozen=True, eq=False)
class InductionScores:
    """The induction scores of all heads, as means over texts of repeated random tokens.

    All (layer, head) arrays are float32, from 0 to 1, and read-only. ``losses`` (copy,) is the mean negative
    log-likelihood of the tokens of each copy, in nats. The tokens are random, so only the repetition makes later copies
    more predictable. The first token of each copy is left out, because nothing earlier shows which token follows the
    end of a copy.
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

    Each of ``count`` texts consists of ``repeats`` copies of ``length`` different random tokens, drawn with ``seed``.
    To average over more texts, average the answers of requests with different seeds.
    """

    ANSWERED_BY: ClassVar[str] = "heads.answer"
    HEAD: ClassVar[str] = CAUSAL

    length: int = 25
    repeats: int = 2
    count: int = 4
    seed: int = 0


@dataclass(frozen=True, eq=False)
class LinksAnswer:
    """Flags that state which links of annotated texts each head finds.

    There is a flag for each link: first all links of the first text, then those of the second, and so on.
    """

    found: BoolArray  # (link, direction, layer, head); directions as in attention.annotations
    read: BoolArray  # (link,), False if the model cannot read the text or a word of the link
    skipped: int  # number of items with a text that the model cannot read
    reason: str  # the reason for the last of these items, or ""
    unknown: int = 0  # number of these items with too many unknown tokens


@dataclass(frozen=True)
class LinksQuestion(InspectRequest[LinksAnswer]):
    """A request for the links that each head finds in some tens of annotated texts.

    All texts are read in a single batch, so memory grows with their number. In an encoder-decoder, only the encoder
    runs. A text that the model cannot read is skipped.
    """

    ANSWERED_BY: ClassVar[str] = "heads.count_link_hits"

    items: tuple[AnnotatedText, ...] = ()

    @property
    def key(self) -> str:
        """Return a key of the request that is the same on every machine, computed faster than by the base class."""
        asked = [
            [item.text, item.units, [(link.source, link.target, link.others) for link in item.links]]
            for item in self.items
        ]
        stated = json.dumps([self.model, self.revision, asked], separators=(",", ":"))
        return f"{type(self).__name__}:{hashlib.sha256(stated.encode()).hexdigest()}"


@dataclass(frozen=True)
class RandomLinksQuestion(LinksQuestion):
    """A request like LinksQuestion, but for random weights in the same architecture, as a baseline."""

    HEAD: ClassVar[str] = RANDOM
