"""Answers to questions in passages, from a question-answering head, and their attribution to tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attention.answer_windows import (
    NOWHERE,
    PASSAGE,
    QUESTION,
    SPECIAL,
    Letters,
    ScoredSpan,
    WindowScores,
    best_spans,
    null_position,
    trim_letters,
    window_positions,
    word_bounds,
)
from attention.mask import FloatArray
from attention.tokens import TokenRow
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record.records import numpy
from inference.runners.blanks import read, tensors
from inference.runners.influence import from_vectors, path_from_zero, word_vectors
from inference.runners.labels import failure_message
from inference.runners.word_influence import refuse_long
from inference.tasks.answers import (
    BOTH,
    END,
    START,
    AnswerSpan,
    AnswerSpans,
    AnswerWindow,
    PassageAnswers,
    SpanGradients,
    SpanPath,
    SpanRequest,
)
from inference.tasks.attribution import WordScores
from inference.text.encoding import Encoding, check_text

MOST_LETTERS = 50_000  # letters of a passage; about 60 windows
SHORTEST, LONGEST, MOST_SPANS = 16, 4096, 100  # limits of the fields of a request
TOKENS_AT_ONCE = 4096  # padded tokens in a forward pass


def answer(loaded: LoadedModel, question: AnswerSpans) -> PassageAnswers:
    """Return the best answer spans over all windows of a passage.

    Raise UserError if a text is empty or too long, or if the model fails on it.
    """
    _refuse_odd(question)
    passage = check_text(question.pair, gettext_lazy("passage"), longest=MOST_LETTERS)
    reading = loaded.reader.read(check_text(question.text, gettext_lazy("question")), passage, None)
    kinds = _kinds(reading.row)
    length = max(SHORTEST, min(question.length, loaded.limit))
    positions = window_positions(kinds, length, question.stride)
    windows = [reading.pick(kept) for kept in positions]
    logits = _logits(loaded, windows)
    letters = _letters(reading.row, kinds, passage)
    bounds = word_bounds(passage, letters)
    cls = getattr(loaded.reader.tokenizer, "cls_token_id", None)
    scored = [
        WindowScores(start, end, letters[kept], null_position(window.ids, cls), bounds[kept])
        for (start, end), kept, window in zip(logits, positions, windows, strict=True)
    ]
    found = best_spans(scored, knows_no_answer(loaded.model.config), question.top)
    spans = tuple(_answer_span(passage, one) for one in found.spans)
    shown = tuple(
        AnswerWindow(_whole_words(reading.row, kept, kinds, passage), window.row, start, end)
        for kept, window, (start, end) in zip(positions, windows, logits, strict=True)
    )
    return PassageAnswers(spans, found.null_probability, found.says_no_answer, shown)


def _answer_span(passage: str, found: ScoredSpan) -> AnswerSpan:
    return AnswerSpan(passage[slice(*found.letters)], **vars(found))


def knows_no_answer(config: Any) -> bool:
    """Return False if the model's configuration states that the model was not trained to predict "no answer".

    Most configurations do not state this; then "no answer" is considered. A model that was trained on SQuAD 1.1 gives
    low scores to [CLS], the token that stands for "no answer".
    """
    return getattr(config, "no_answer", True) is not False


def _refuse_odd(question: AnswerSpans) -> None:
    """Raise UserError if a number of the request is outside its limits."""
    for name, least, most in (("length", SHORTEST, LONGEST), ("stride", 0, LONGEST), ("top", 1, MOST_SPANS)):
        if not least <= getattr(question, name) <= most:
            raise UserError(gettext_lazy("“{name}” must be from {least} to {most}.", name=name, least=least, most=most))


def _kinds(row: TokenRow) -> list[int]:
    """Return SPECIAL, QUESTION or PASSAGE for each token."""
    pairs = zip(row.words, row.segments, strict=True)
    return [SPECIAL if word is None else (QUESTION, PASSAGE)[segment] for word, segment in pairs]


def _letters(row: TokenRow, kinds: list[int], passage: str) -> NDArray[np.int64]:
    """Return the letters of each passage token, (token, 2); NOWHERE for others."""
    found = [
        NOWHERE if kind != PASSAGE or span is None else trim_letters(passage, span)
        for span, kind in zip(row.spans, kinds, strict=True)
    ]
    return np.array(found, np.int64).reshape((len(found), 2))


def _logits(loaded: LoadedModel, windows: list[Encoding]) -> list[tuple[FloatArray, FloatArray]]:
    """Return the start and end logits of each window, each (token,)."""
    found: list[tuple[FloatArray, FloatArray]] = []
    step = max(1, TOKENS_AT_ONCE // max(len(window.ids) for window in windows))
    for first in range(0, len(windows), step):
        some = windows[first : first + step]
        with as_user_error(failure_message(loaded)), torch.inference_mode():
            output = loaded.model(**tensors(loaded, *some))
        for at, window in enumerate(some):
            size = len(window.ids)
            found.append((numpy(output.start_logits[at, :size].float()), numpy(output.end_logits[at, :size].float())))
    return found


def _whole_words(row: TokenRow, kept: list[int], kinds: list[int], passage: str) -> Letters:
    """Return the letters of the passage that a window reads, extended to whole words."""
    inside = [at for at in kept if kinds[at] == PASSAGE]
    if not inside:
        return (0, len(passage))
    ends = {row.words[inside[0]], row.words[inside[-1]]}
    spans = [row.spans[at] for at, kind in enumerate(kinds) if kind == PASSAGE and row.words[at] in ends]
    both = [span for span in (*spans, row.spans[inside[0]], row.spans[inside[-1]]) if span is not None]
    return (min(span[0] for span in both), max(span[1] for span in both)) if both else (0, len(passage))


def read_span(loaded: LoadedModel, question: SpanRequest[Any]) -> Encoding:
    """Encode the question and the passage of a request.

    Raise UserError if they are too long, or if the tokens ``first`` to ``last`` of the request do not exist.
    """
    reading = read(loaded, question.text, question.pair, question.cut)
    refuse_long(reading)
    tokens = len(reading.ids)
    if not 0 <= question.first <= question.last < tokens:
        raise UserError(
            f"Tokens {question.first} to {question.last} were asked about; the text has {tokens}.",
            way_out="text",
        )
    return reading


def span_logits(output: Any, first: int, last: int) -> Tensor:
    """Return the start logit of token ``first`` and the end logit of token ``last``, shape (sample, 2) float32."""
    both = torch.stack([output.start_logits[:, first], output.end_logits[:, last]], dim=1)
    return both.float()


def attribute_span(loaded: LoadedModel, question: SpanGradients | SpanPath) -> WordScores:
    """Return the attribution of an answer's logits to each token.

    Raise UserError if ``ends`` is unknown, if the text is too long, or if the model fails on it.
    """
    if question.ends not in (BOTH, START, END):
        raise UserError(gettext_lazy("“{name}” is not an end of an answer.", name=question.ends[:20]))
    one = tensors(loaded, read_span(loaded, question))

    def score(vectors: Tensor) -> Tensor:
        both = span_logits(from_vectors(loaded.model, one, vectors), question.first, question.last)
        return both.sum(dim=1) if question.ends == BOTH else both[:, (START, END).index(question.ends)]

    with as_user_error(failure_message(loaded), way_out=None):
        vectors = word_vectors(loaded.model, one)
        if isinstance(question, SpanPath):
            return path_from_zero(score, vectors, question.steps, TOKENS_AT_ONCE)
        [gradient] = torch.autograd.grad(score(vectors.requires_grad_()).sum(), vectors)
        return WordScores(numpy(gradient[0].norm(dim=-1)))
