"""Requests for an answer of a model under many sets of ablations, masked edges and patches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.edits import Edit, Patch
from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.task_heads import CAUSAL, NEXT_SENTENCE, WRITES
from inference.tasks.answers import SpanRequest
from inference.tasks.labels import LabelRequest
from inference.tasks.model_request import InspectRequest, PredictRequest
from inference.tasks.predictions import BlankRequest

Sets = tuple[tuple[Edit | Patch, ...], ...]


@dataclass(frozen=True, eq=False)
class Effect:
    """The answer of a model under each edit set.

    ``values`` (set, number) float32 are the channels of a sentence vector, the logits of labels, or the
    log-probabilities of ``names``, depending on the request. ``top`` lists the most probable names of each set, with
    probabilities.
    """

    values: FloatArray
    names: tuple[str, ...] = ()
    top: tuple[tuple[tuple[str, float], ...], ...] = ()
    row: TokenRow | None = None  # the model's input, which may differ from that of the text's trace


@dataclass(frozen=True)
class VectorEffects(InspectRequest[Effect]):
    """A request for the sentence vector of a text under each edit set: the mean of its tokens' last-layer vectors."""

    ANSWERED_BY: ClassVar[str] = "edit_effects.answer"

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    edits: Sets = ((),)
    other: VectorEffects | None = None  # the same request for the donor text of the patches


@dataclass(frozen=True)
class BlankEffects(BlankRequest[Effect]):
    """A request for the probabilities of ``words`` in the blank number ``blank``, under each edit set.

    Each word is a single token.
    """

    ANSWERED_BY: ClassVar[str] = "edit_effects.answer"

    words: tuple[str, ...] = ()
    blank: int = 0
    edits: Sets = ((),)
    other: BlankEffects | None = None  # the same request for the donor text of the patches


@dataclass(frozen=True)
class FollowsEffects(PredictRequest[Effect]):
    """A request for the probabilities that ``pair`` follows ``text`` and that it does not, under each edit set."""

    ANSWERED_BY: ClassVar[str] = "edit_effects.answer"
    HEAD: ClassVar[str] = NEXT_SENTENCE

    text: str = ""
    pair: str = ""
    cut: int | None = None
    edits: Sets = ((),)
    other: FollowsEffects | None = None  # the same request for the donor text of the patches


@dataclass(frozen=True)
class NextTokenEffects(PredictRequest[Effect]):
    """A request for the probability of each of ``words`` as the next token, under each edit set.

    A word of several tokens is represented by its first token.
    """

    ANSWERED_BY: ClassVar[str] = "edit_effects.answer"
    HEAD: ClassVar[str] = CAUSAL

    text: str = ""
    cut: int | None = None
    words: tuple[str, ...] = ()
    edits: Sets = ((),)
    other: NextTokenEffects | None = None  # the same request for the donor text of the patches


@dataclass(frozen=True)
class WrittenEffects(PredictRequest[Effect]):
    """A request for the probability of each token id in ``words`` as the next token, under each edit set.

    ``written`` has the token ids of the translation so far.
    """

    ANSWERED_BY: ClassVar[str] = "edit_effects.answer"
    HEAD: ClassVar[str] = WRITES

    text: str = ""
    cut: int | None = None
    written: tuple[int, ...] = ()
    words: tuple[int, ...] = ()
    edits: Sets = ((),)
    other: WrittenEffects | None = None  # the same request for the donor text of the patches


@dataclass(frozen=True)
class LabelEffects(LabelRequest[Effect]):
    """A request for the logit of every label under each edit set.

    The labels are those of the whole text, or of the word whose tag is predicted at token ``at``.
    """

    ANSWERED_BY: ClassVar[str] = "edit_effects.answer"

    edits: Sets = ((),)
    other: LabelEffects | None = None  # the same request for the donor text of the patches


@dataclass(frozen=True)
class SpanEffects(SpanRequest[Effect]):
    """A request for the start logit at token ``first`` and the end logit at token ``last``, under each edit set."""

    ANSWERED_BY: ClassVar[str] = "edit_effects.answer"

    edits: Sets = ((),)
    other: SpanEffects | None = None  # the same request for the donor text of the patches


AnyEffects = (
    VectorEffects | BlankEffects | FollowsEffects | NextTokenEffects | WrittenEffects | LabelEffects | SpanEffects
)
