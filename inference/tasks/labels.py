"""Requests for the class of a text, the tag of each word, and the attribution of a label to tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.task_heads import CLASSIFY, TAG
from inference.tasks.attribution import Run, WordScores
from inference.tasks.model_request import Answer, PredictRequest

CHOICE, EACH, NUMBER = "choice", "each", "number"


@dataclass(frozen=True)
class LabelPlace:
    """A labelled text or word: its tokens (``run``), and the tokens that the task head reads (``reads``)."""

    run: Run
    reads: Run  # the first token of a word; "[CLS]", the last token or all tokens of a text


@dataclass(frozen=True, eq=False)
class LabelAnswer:
    """The logits of every label for each place: the text, or each of its words.

    ``sort`` is the kind of the labels. CHOICE: exactly one label is true, and a softmax gives probabilities. EACH: any
    number of labels may be true, and a sigmoid gives the probability of each. NUMBER: a regression head predicts a
    number, such as a grade or a similarity, without probabilities.
    """

    row: TokenRow
    names: tuple[str, ...]  # names of the labels, from the model's configuration
    sort: str
    places: tuple[LabelPlace, ...]
    logits: FloatArray  # (place, label) float32

    @property
    def probabilities(self) -> FloatArray | None:
        """Return the probability of every label at every place, shape (place, label) float32.

        Return None for a regression head.

        >>> row = TokenRow(("hi",), (7,), (0,), (0,), ((0, 2),))
        >>> one = LabelAnswer(row, ("no", "yes"), CHOICE, (), np.array([[0.0, 1.0986]], np.float32))
        >>> present = one.probabilities
        >>> [] if present is None else present.round(2).tolist()
        [[0.25, 0.75]]
        """
        logs = log_probabilities(self.logits, self.sort)
        return None if logs is None else np.exp(logs)

    def likeliest(self, place: int) -> int:
        """Return the index of the label with the largest logit at place number ``place``."""
        return int(self.logits[place].argmax())


def log_probabilities(logits: FloatArray, sort: str) -> FloatArray | None:
    """Return the log-probabilities of labels, shape (…, label) float32, or None if ``sort`` is NUMBER."""
    if sort == NUMBER:
        return None
    exact = logits.astype(np.float64)
    total = np.logaddexp.reduce(exact, axis=-1, keepdims=True) if sort == CHOICE else np.logaddexp(0, exact)
    logs: FloatArray = (exact - total).astype(np.float32)
    return logs


@dataclass(frozen=True)
class TextLabel(PredictRequest[LabelAnswer]):
    """A request for the class of a text or of a pair; its single place is the whole text."""

    ANSWERED_BY: ClassVar[str] = "labels.answer"
    HEAD: ClassVar[str] = CLASSIFY

    text: str = ""
    pair: str | None = None
    cut: int | None = None


@dataclass(frozen=True)
class WordTags(PredictRequest[LabelAnswer]):
    """A request for the tag of every word of a text or of a pair, from each word's first token."""

    ANSWERED_BY: ClassVar[str] = "labels.answer"
    HEAD: ClassVar[str] = TAG

    text: str = ""
    pair: str | None = None
    cut: int | None = None


@dataclass(frozen=True)
class LabelRequest(PredictRequest[Answer]):
    """A request about the labels of a text, or of the word whose tag is predicted at token ``at``."""

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    at: int | None = None

    @property
    def needs(self) -> str:
        """Return CLASSIFY for the class of a text, or TAG for the tag of a word."""
        return CLASSIFY if self.at is None else TAG


@dataclass(frozen=True)
class LabelGradients(LabelRequest[WordScores]):
    """A request for the gradient of a label's logit with respect to each word embedding, as norms (token,).

    ``label`` is the index of the label in the model's output; -1 selects the most probable label.
    """

    ANSWERED_BY: ClassVar[str] = "word_influence.attribute_label"

    label: int = -1


@dataclass(frozen=True)
class LabelPath(LabelRequest[WordScores]):
    """A request for integrated gradients (arXiv:1703.01365) of a label's logit, shape (token,), signed.

    The path scales all word embeddings from zero to their values in ``steps`` steps. The attributions sum to the change
    of the logit from start to end of the path, plus the numerical error ``missed``.
    """

    ANSWERED_BY: ClassVar[str] = "word_influence.attribute_label"

    label: int = -1
    steps: int = 32
