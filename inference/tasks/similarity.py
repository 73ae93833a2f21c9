"""Requests for the cosine of two texts, and its split over pairs of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.similarity import SimilarityTable
from attention.tokens import TokenRow
from inference.tasks.edit_effects import Effect, Sets
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


@dataclass(frozen=True)
class SimilarityEffects(InspectRequest[Effect]):
    """A request for the cosine of two texts under each set of edits, applied to both texts: values (set, 1).

    A ``PatchHead`` with a seed needs no pairs: it moves the output of its head, at every token, by a random vector
    that is as long as the output. This is the control of an ablation, which subtracts the output.
    """

    ANSWERED_BY: ClassVar[str] = "similarity.effects"

    a: str = ""
    b: str = ""
    pooling: str = "mean"
    edits: Sets = ((),)
