"""Requests for the cosine of two texts, and its split over pairs of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.similarity import SimilarityTable
from attention.tokens import TokenRow
from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True, eq=False)
class SimilarityAnswer:
    """The cosine of two texts and its table; ``pooling`` is the pooling used (attention.similarity)."""

    found: SimilarityTable
    row_a: TokenRow
    row_b: TokenRow
    pooling: str


@dataclass(frozen=True)
class SimilarityRequest(InspectRequest[SimilarityAnswer]):
    """A request for the cosine of the texts ``a`` and ``b``, from the vectors of the last layer.

    ``pooling`` is of attention.similarity; without it, ``modules.json`` of a sentence-transformers folder decides,
    and other models average all tokens. UserError is raised if that file has a step that does not pool.
    """

    ANSWERED_BY: ClassVar[str] = "similarity.answer"

    a: str = ""
    b: str = ""
    pooling: str | None = None
