"""Fine-tuning on questions about passages (arXiv:1810.04805): overlapping windows, the run, and the answers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attention.answer_windows import (
    NOWHERE,
    PASSAGE,
    QUESTION,
    SPECIAL,
    BestSpans,
    Letters,
    WindowScores,
    best_spans,
    null_position,
    token_span,
    trim_letters,
    window_positions,
    word_bounds,
)
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import silence_transformers
from inference.settings import Settings as Machine
from probing.labelled.answer_scores import score_answers
from probing.labelled.data_checks import fit, question_texts
from probing.labelled.squad import PassageQuestion, QuestionSet
from training import loop
from training.finetune import model_setup
from training.finetune.data import CHUNK, Encoded, batch, sizes
from training.finetune.evaluation import batch_by_length, logits, loss
from training.finetune.model_setup import FinetuneStart, open_model
from training.finetune.settings import CHARACTERS, FinetuneSettings
from training.finetune.trainer import LOOKED_AT, FinetuneRun, Mark, RunInput, begin_run, save_if_better
from training.loop import Precision
from training.translation.data import texts

ENDS = ("start", "end")  # the names of both outputs
NO_ANSWER = "no_answer"  # key of a saved config.json: False if the model never learned to say that there is no answer


@dataclass(frozen=True, eq=False)
class QuestionWindows:
    """The tokenised windows of questions with their passages, in the order of the questions.

    A passage that is too long for the model is divided into several windows, each with the question. The labels in
    ``windows`` are the positions of the first and last token of the answer. Both are the position of [CLS] if the
    window does not contain the whole answer.
    """

    questions: tuple[PassageQuestion, ...]
    windows: Encoded
    owners: NDArray[np.int64]  # (window,) index of the question
    letters: list[NDArray[np.int64]]  # of each window (token, 2): its letters in the passage; (-1, -1) for others
    nulls: NDArray[np.int64]  # (window,) position of [CLS]


@dataclass(frozen=True, eq=False)
class _Window:
    """The arrays of a window: ids, token type ids, letters, first and last token of the answer, position of [CLS]."""

    ids: NDArray[np.int32]
    types: NDArray[np.int32]
    letters: NDArray[np.int64]
    answer: tuple[int, int]
    null: int
    owner: int


def encode_questions(questions: Sequence[PassageQuestion], tokenizer: Any, length: int, stride: int) -> QuestionWindows:
    """Tokenise questions with their passages into windows of at most ``length`` tokens; may raise UserError.

    Neighbouring windows of a question share ``stride`` passage tokens.
    """
    found: list[_Window] = []
    for first in range(0, len(questions), CHUNK):
        some = questions[first : first + CHUNK]
        for at, encoding in enumerate(_tokenize(some, tokenizer)):
            kinds = [SPECIAL if one is None else (QUESTION, PASSAGE)[one] for one in encoding.sequence_ids]
            letters = _passage_letters(some[at].passage, encoding.offsets, kinds)
            found += [
                _window(some[at], encoding, letters, kept, first + at, tokenizer)
                for kept in window_positions(kinds, length, stride)
            ]
    used = "token_type_ids" in tokenizer.model_input_names and any(window.types.any() for window in found)
    types = texts([window.types for window in found]) if used else None
    answers = texts([window.answer for window in found])
    return QuestionWindows(
        tuple(questions),
        Encoded(texts([window.ids for window in found]), types, answers, None),
        np.array([window.owner for window in found]),
        [window.letters for window in found],
        np.array([window.null for window in found]),
    )


def _window(  # noqa: PLR0913  # the question, its tokens, and the window
    question: PassageQuestion,
    encoding: Any,
    letters: NDArray[np.int64],
    kept: Sequence[int],
    owner: int,
    tokenizer: Any,
) -> _Window:
    ids = np.array(encoding.ids, np.int32)[kept]
    null = null_position(ids.tolist(), tokenizer.cls_token_id)
    spans = (token_span(letters[kept], (one.start, one.end)) for one in question.answers)
    answer = next((span for span in spans if span is not None), (null, null))
    return _Window(ids, np.array(encoding.type_ids, np.int32)[kept], letters[kept], answer, null, owner)


def _tokenize(questions: Sequence[PassageQuestion], tokenizer: Any) -> Any:
    with as_user_error(gettext_lazy("The tokenizer cannot read one of these texts. Pick another model.")):
        return tokenizer(
            [question.question for question in questions], [question.passage for question in questions], verbose=False
        ).encodings


def _passage_letters(passage: str, offsets: Sequence[Letters], kinds: Sequence[int]) -> NDArray[np.int64]:
    """Return the letters of each passage token without spaces, (token, 2); (-1, -1) for all others."""
    found = [
        trim_letters(passage, span) if kind == PASSAGE else NOWHERE for span, kind in zip(offsets, kinds, strict=True)
    ]
    return np.array(found, np.int64).reshape((len(found), 2))


@torch.no_grad()
def answer_questions(
    model: Any, asked: QuestionWindows, padding: int, where: Precision, no_answer: bool
) -> tuple[list[BestSpans], float]:
    """Return the best answer spans of each question over its windows, and the mean cross-entropy in nats.

    ``padding`` is the id of the padding token. If ``no_answer`` is set, the model may predict that there is no answer.
    Dropout is off; afterwards the model returns to its earlier mode (training or evaluation).
    """
    learning = model.training
    model.eval()
    rows = asked.windows
    scored: list[list[WindowScores]] = [[] for _ in asked.questions]
    total = 0.0
    for some in batch_by_length(rows.pieces.lengths):
        read = batch(rows, some, padding)
        with where.autocast():
            found = logits(model, read, where.device)
        total += float(loss(found, read)) * len(some)
        both = found.float().cpu().numpy()
        for at, row in enumerate(some):
            size = len(rows.pieces[row])
            owner, letters = asked.owners[row], asked.letters[row]
            bounds = word_bounds(asked.questions[owner].passage, letters)
            scored[owner].append(
                WindowScores(both[at, 0, :size], both[at, 1, :size], letters, int(asked.nulls[row]), bounds)
            )
    model.train(learning)
    return [best_spans(windows, no_answer) for windows in scored], total / max(1, len(rows))


def answer_texts(asked: QuestionWindows, found: Sequence[BestSpans]) -> list[str]:
    """Return the predicted answer to each question as text, or "" if the model predicts no answer."""
    return [
        "" if best.says_no_answer else question.passage[slice(*best.spans[0].letters)]
        for question, best in zip(asked.questions, found, strict=True)
    ]


@dataclass(kw_only=True)
class AnswerRun(FinetuneRun):
    """A run that fine-tunes a model to mark the answer to a question in a passage."""

    asked: QuestionWindows
    no_answer: bool

    def assess(self) -> None:
        """Score the answers to the dev questions, save the weights if they are the best, and log the scores."""
        found, missed = answer_questions(self.model, self.asked, self.batches.padding, self.precision, self.no_answer)
        scores = score_answers(answer_texts(self.asked, found), self.asked.questions, self.no_answer)
        reached = Mark(scores["f1"], -missed, self.progress.step)
        kept = save_if_better(self.folder, self.model, reached)
        told = {name: scores[name] for name in ("exact_match", "f1")}
        self.metrics.write("evaluation", **loop.log_position(self.progress), loss=missed, **told, best=kept, only=None)
        self.metrics.note(self._line(reached, kept))


def prepare_answers(
    given: QuestionSet, model: str, settings: FinetuneSettings, folder: Path, machine: Machine
) -> AnswerRun:
    """Prepare a new question-answering run in a folder, or resume its checkpoint; may raise UserError."""
    silence_transformers()
    start = _open_start(given, model, settings, machine)
    start.model.config.no_answer = given.no_answer  # saved in config.json, and read by the app
    length = min(settings.length, start.longest or settings.length)
    train = encode_questions(given.train, start.tokenizer, length, settings.stride).windows

    def dev(asked: int) -> dict[str, Any]:
        some = given.dev[:: max(1, len(given.dev) // asked)][:asked]
        read = encode_questions(some, start.tokenizer, length, settings.stride)
        return {"asked": read, "dev": read.windows, "no_answer": given.no_answer}

    rows = len(given.train), len(given.dev), len(given.test)
    run = RunInput(start, "answer", ENDS, length, train, rows, _facts(given, start.name, settings))
    return begin_run(run, settings, folder, dev, AnswerRun)


def _open_start(given: QuestionSet, model: str, settings: FinetuneSettings, machine: Machine) -> FinetuneStart:
    if model == CHARACTERS:
        letters = (f"{row.question} {row.passage}" for row in given.train)
        return model_setup.start(letters, "answer", ENDS, settings.seed)
    start = open_model(model, "answer", ENDS, settings.seed, machine, settings.revision)
    read = fit(question_texts(given), lambda texts: sizes(start.tokenizer, texts), 0, LOOKED_AT)
    if read.unreadable:
        raise UserError(read.unreadable)
    return start


def _facts(given: QuestionSet, model: str, settings: FinetuneSettings) -> dict[str, Any]:
    """Return the settings that must not change when a run is resumed."""
    rows = hashlib.sha256()
    for row in (*given.train, *given.dev, *given.test):
        rows.update(repr(row).encode("utf-8", "surrogatepass"))
    return {
        "model": model,
        "rows": rows.hexdigest(),
        "seed": settings.seed,
        "revision": settings.revision,
        "frozen": settings.frozen,
        "stride": settings.stride,
    }
