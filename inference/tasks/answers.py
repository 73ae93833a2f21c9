"""Requests for the answer to a question in a passage, and for its attribution to tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.answer_windows import LENGTH, STRIDE, Letters
from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.task_heads import ANSWER
from inference.tasks.attribution import WordScores
from inference.tasks.model_request import Answer, PredictRequest

BOTH, START, END = "both", "start", "end"  # the logits that are explained: their sum, or a single one


@dataclass(frozen=True)
class AnswerSpan:
    """A possible answer: ``text``, its character span ``letters`` in the passage, and its tokens in a window.

    The answer spans tokens ``first`` to ``last`` of window number ``window``, both included. ``score`` is its start
    logit plus its end logit. ``probability`` is a softmax of the scores over all spans of at most 30 tokens in all
    windows. This softmax includes "no answer" if the model can predict it.
    """

    text: str
    letters: Letters
    window: int
    first: int
    last: int
    score: float
    probability: float


@dataclass(frozen=True, eq=False)
class AnswerWindow:
    """A window of a passage: the question's tokens, and some tokens of the passage with their logits.

    ``letters`` is the character span of the passage that the window reads, extended to whole words. The spans in
    ``row`` count characters of the question and of the whole passage.
    """

    letters: Letters
    row: TokenRow
    start: FloatArray  # (token,) float32, logits of the answer's first token
    end: FloatArray  # (token,) float32, logits of the answer's last token


@dataclass(frozen=True, eq=False)
class PassageAnswers:
    """The best answer spans over all windows, most probable first.

    ``no_answer`` is the probability that the passage has no answer. It is None if the model was not trained to predict
    this (``no_answer`` is false in its config.json). ``says_no_answer`` is True if "no answer" has a higher score than
    the best span (arXiv:1806.03822).
    """

    spans: tuple[AnswerSpan, ...]
    no_answer: float | None
    says_no_answer: bool
    windows: tuple[AnswerWindow, ...]


@dataclass(frozen=True)
class AnswerSpans(PredictRequest[PassageAnswers]):
    """A request for the answer to the question ``text`` in the passage ``pair``.

    The passage is read in windows of at most ``length`` tokens, question included. Neighbouring windows share
    ``stride`` tokens of the passage. ``top`` is the number of spans in the result.

    >>> AnswerSpans(text="Who sings?", pair="Ann sings.").needs
    'answer'
    """

    ANSWERED_BY: ClassVar[str] = "answers.answer"
    HEAD: ClassVar[str] = ANSWER

    text: str = ""
    pair: str = ""
    length: int = LENGTH
    stride: int = STRIDE
    top: int = 10


@dataclass(frozen=True)
class SpanRequest(PredictRequest[Answer]):
    """A request about the answer from token ``first`` to token ``last``, both included.

    ``text`` is the question and ``pair`` the passage. The indices count the tokens of both together, which are read in
    a single window.
    """

    HEAD: ClassVar[str] = ANSWER

    text: str = ""
    pair: str = ""
    cut: int | None = None
    first: int = 0
    last: int = 0


@dataclass(frozen=True)
class SpanGradients(SpanRequest[WordScores]):
    """A request for the gradient of an answer's logits with respect to each word embedding, as norms (token,).

    ``ends`` selects the explained number: the start logit (START), the end logit (END) or the sum of both (BOTH).
    """

    ANSWERED_BY: ClassVar[str] = "answers.attribute_span"

    ends: str = BOTH


@dataclass(frozen=True)
class SpanPath(SpanRequest[WordScores]):
    """A request for integrated gradients (arXiv:1703.01365) of an answer's logits, shape (token,), signed.

    The path scales all word embeddings from zero to their values in ``steps`` steps. The attributions sum to the change
    of the logits from start to end of the path, plus the numerical error ``missed``.
    """

    ANSWERED_BY: ClassVar[str] = "answers.attribute_span"

    ends: str = BOTH
    steps: int = 32
