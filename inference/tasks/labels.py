"""Which class does a model give a text, and which tag each of its words; and what is one of these labels made of?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.task_heads import CLASSIFY, TAG
from inference.tasks.model_request import Answer, PredictRequest
from inference.tasks.word_influence import Run, WordScores

CHOICE, EACH, NUMBER = "choice", "each", "number"


@dataclass(frozen=True)
class LabelPlace:
    """What is given a label: the whole text or a word, as a run of tokens, and the tokens that the head reads there."""

    run: Run
    reads: Run  # of a word its first piece; of a text "[CLS]", or the last piece, or all


@dataclass(frozen=True, eq=False)
class LabelAnswer:
    """The answer: of every place a logit for each label.

    ``sort`` is how they are meant: CHOICE, one label is true, and a softmax gives probabilities; EACH, any number of
    them may be, and a sigmoid tells of each by itself; NUMBER, the head was trained to give a number (a grade, a
    likeness), which no probability belongs to.
    """

    row: TokenRow
    names: tuple[str, ...]  # of the labels; from the model's files, whatever stands there
    sort: str
    places: tuple[LabelPlace, ...]
    logits: FloatArray  # (place, label) float32

    @property
    def probabilities(self) -> FloatArray | None:
        """Of every label at every place, (place, label) float32; None for numbers.

        >>> row = TokenRow(("hi",), (7,), (0,), (0,), ((0, 2),))
        >>> one = LabelAnswer(row, ("no", "yes"), CHOICE, (), np.array([[0.0, 1.0986]], np.float32))
        >>> present = one.probabilities
        >>> [] if present is None else present.round(2).tolist()
        [[0.25, 0.75]]
        """
        logs = log_probabilities(self.logits, self.sort)
        return None if logs is None else np.exp(logs)

    def likeliest(self, place: int) -> int:
        """Number of the label with the largest logit at a place."""
        return int(self.logits[place].argmax())


def log_probabilities(logits: FloatArray, sort: str) -> FloatArray | None:
    """Natural logarithms of the probabilities of labels (..., label), float32; None for numbers."""
    if sort == NUMBER:
        return None
    exact = logits.astype(np.float64)
    total = np.logaddexp.reduce(exact, axis=-1, keepdims=True) if sort == CHOICE else np.logaddexp(0, exact)
    logs: FloatArray = (exact - total).astype(np.float32)
    return logs


@dataclass(frozen=True)
class TextLabel(PredictRequest[LabelAnswer]):
    """The class of a text, or of two; one place, the whole text."""

    ANSWERED_BY: ClassVar[str] = "labels"
    HEAD: ClassVar[str] = CLASSIFY

    text: str = ""
    pair: str | None = None
    cut: int | None = None


@dataclass(frozen=True)
class WordTags(PredictRequest[LabelAnswer]):
    """The tag of every word of a text, or of two; a word's first piece carries it."""

    ANSWERED_BY: ClassVar[str] = "labels"
    HEAD: ClassVar[str] = TAG

    text: str = ""
    pair: str | None = None
    cut: int | None = None


@dataclass(frozen=True)
class LabelRequest(PredictRequest[Answer]):
    """Something about the labels of a text, or of the word that token ``at`` carries the tag of."""

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    at: int | None = None

    @property
    def needs(self) -> str:
        """A text's class is told by one head, a word's tag by another."""
        return CLASSIFY if self.at is None else TAG


@dataclass(frozen=True)
class LabelGradients(LabelRequest[WordScores]):
    """How long the gradient of a label's logit is in each token's word vector, (token,).

    ``label`` counts from 0 as the model's outputs do; -1 is the likeliest there.
    """

    ANSWERED_BY: ClassVar[str] = "label_attribution"

    label: int = -1


@dataclass(frozen=True)
class LabelPath(LabelRequest[WordScores]):
    """Integrated gradients (arXiv:1703.01365) of the label's logit, (token,), signed, while all word vectors grow from
    zero to what they are, in ``steps`` steps. They add up to what the logit rises by, and ``missed``."""

    ANSWERED_BY: ClassVar[str] = "label_attribution"

    label: int = -1
    steps: int = 32
