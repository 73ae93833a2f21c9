"""What changes when heads are removed, looks are cut, or something of another text is put in: one answer of a model,
watched under many sets of edits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.edits import Edit, Patch
from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.task_heads import CAUSAL, NEXT_SENTENCE, WRITES
from inference.tasks.labels import LabelRequest
from inference.tasks.masked_words import BlankRequest
from inference.tasks.model_request import InspectRequest, PredictRequest

Sets = tuple[tuple[Edit | Patch, ...], ...]


@dataclass(frozen=True, eq=False)
class Effect:
    """The watched answer under each set of edits.

    ``values`` is (set, what), float32: for a sentence vector its channels; for labels their logits; else natural
    logarithms of the probabilities of ``names``. ``top`` has, for each set, the likeliest few with their probabilities.
    """

    values: FloatArray
    names: tuple[str, ...] = ()
    top: tuple[tuple[tuple[str, float], ...], ...] = ()
    row: TokenRow | None = None  # what was read, where it may differ from the text's trace


@dataclass(frozen=True)
class VectorEffects(InspectRequest[Effect]):
    """The sentence vector, the mean of the last layer's vectors over all tokens, under each set of edits."""

    ANSWERED_BY: ClassVar[str] = "edit_effects"

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    edits: Sets = ((),)
    other: VectorEffects | None = None  # the same question about the text that the sets take from


@dataclass(frozen=True)
class BlankEffects(BlankRequest[Effect]):
    """What fills blank number ``blank``: the probabilities of ``words``, each one piece of the vocabulary."""

    ANSWERED_BY: ClassVar[str] = "edit_effects"

    words: tuple[str, ...] = ()
    blank: int = 0
    edits: Sets = ((),)
    other: BlankEffects | None = None  # the same question about the text that the sets take from


@dataclass(frozen=True)
class FollowsEffects(PredictRequest[Effect]):
    """Whether the second text follows the first: the probabilities of the head's two answers."""

    ANSWERED_BY: ClassVar[str] = "edit_effects"
    HEAD: ClassVar[str] = NEXT_SENTENCE

    text: str = ""
    pair: str = ""
    cut: int | None = None
    edits: Sets = ((),)
    other: FollowsEffects | None = None  # the same question about the text that the sets take from


@dataclass(frozen=True)
class NextTokenEffects(PredictRequest[Effect]):
    """What comes after the text: the probabilities of ``words``, the first piece of each."""

    ANSWERED_BY: ClassVar[str] = "edit_effects"
    HEAD: ClassVar[str] = CAUSAL

    text: str = ""
    cut: int | None = None
    words: tuple[str, ...] = ()
    edits: Sets = ((),)
    other: NextTokenEffects | None = None  # the same question about the text that the sets take from


@dataclass(frozen=True)
class WrittenEffects(PredictRequest[Effect]):
    """What a translation goes on with after the tokens ``written`` (as in NextTarget): the probabilities of the tokens
    ``words``."""

    ANSWERED_BY: ClassVar[str] = "edit_effects"
    HEAD: ClassVar[str] = WRITES

    text: str = ""
    cut: int | None = None
    written: tuple[int, ...] = ()
    words: tuple[int, ...] = ()
    edits: Sets = ((),)
    other: WrittenEffects | None = None  # the same question about the text that the sets take from


@dataclass(frozen=True)
class LabelEffects(LabelRequest[Effect]):
    """Every label's logit, of the text or of the word that token ``at`` carries the tag of, under each set."""

    ANSWERED_BY: ClassVar[str] = "edit_effects"

    edits: Sets = ((),)
    other: LabelEffects | None = None  # the same question about the text that the sets take from


AnyEffects = VectorEffects | BlankEffects | FollowsEffects | NextTokenEffects | WrittenEffects | LabelEffects
