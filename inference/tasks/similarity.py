"""Requests for the cosine similarity of two texts, and its split over pairs of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.similarity import SimilarityTable
from attention.tokens import TokenRow
from inference.tasks.edit_effects import Effect, Sets
from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True, eq=False)
class SimilarityAnswer:
    """The cosine similarity of two texts and its table of token pairs; ``pooling`` names the pooling that was used."""

    found: SimilarityTable
    row_a: TokenRow
    row_b: TokenRow
    pooling: str


@dataclass(frozen=True)
class SimilarityRequest(InspectRequest[SimilarityAnswer]):
    """A request for the cosine similarity of the texts ``a`` and ``b``, from the vectors of the last layer.

    ``pooling`` is a pooling of attention.similarity, such as "mean". If it is None, the file ``modules.json`` of a
    sentence-transformers model decides; without this file, all tokens are averaged. UserError is raised if the file has
    a step that is not a pooling.
    """

    ANSWERED_BY: ClassVar[str] = "similarity.answer"

    a: str = ""
    b: str = ""
    pooling: str | None = None


@dataclass(frozen=True)
class SimilarityEffects(InspectRequest[Effect]):
    """A request for the cosine similarity of two texts under each edit set, as values (set, 1).

    The edits apply to both texts. A ``PatchHead`` with a seed needs no token pairs: at every token, a random vector of
    the same norm is added to the head's output. This is a control for an ablation, which subtracts the output.
    """

    ANSWERED_BY: ClassVar[str] = "similarity.effects"

    a: str = ""
    b: str = ""
    pooling: str = "mean"
    edits: Sets = ((),)
