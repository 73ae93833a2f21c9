"""Answers of a fine-tuned model to its test questions, loaded from its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attention.answer_windows import Letters
from probing.labelled.answer_scores import nearest_sentence, score_answer
from probing.labelled.predictions import ROWS, SCORES, UNREADABLE, damaged_file_error
from probing.labelled.squad import GoldAnswer, PassageQuestion
from probing.text_pairs import Mean, mean_of


@dataclass(frozen=True)
class AnswerPrediction:
    """A test question with its gold answers, and the answer of a fine-tuned model, with scores.

    ``said`` is the model's answer, "" for "no answer". ``place`` is its span in the passage, in characters, and
    ``probability`` its probability; both are None if unknown. ``exact_match`` and ``f1`` are SQuAD's scores of the
    answer, from 0 to 1. ``baseline`` is the F1 of the passage's sentence that shares the most words with the question.
    """

    asked: PassageQuestion
    said: str
    place: Letters | None
    probability: float | None
    exact_match: float
    f1: float
    baseline: float

    @property
    def hit(self) -> bool:
        """Return True if the model's answer matches a gold answer exactly (``exact_match`` is 1)."""
        return self.exact_match == 1.0

    @property
    def golds(self) -> list[str]:
        """Return the distinct gold answers; empty if the question has no answer."""
        return list(dict.fromkeys(answer.text for answer in self.asked.answers))


@dataclass(frozen=True, eq=False)
class AnswerResults:
    """All answers to the test questions, wrong answers first, and the scores saved with the model."""

    rows: tuple[AnswerPrediction, ...]
    scores: Mapping[str, Any]

    @property
    def f1(self) -> Mean:
        """Return the model's mean F1 over the questions, 0 to 1, with its 95 % bootstrap interval, shape (1,)."""
        return _mean([row.f1 for row in self.rows])

    @property
    def lead(self) -> Mean:
        """Return the mean difference between the F1 of the model and of the baseline, shape (1,).

        It is positive if the model is better. The 95 % bootstrap interval resamples questions.
        """
        return _mean([row.f1 - row.baseline for row in self.rows])


def _mean(values: list[float]) -> Mean:
    return mean_of(np.array(values, np.float64)[:, None])


def load_answers(folder: Path) -> AnswerResults:
    """Load the answers in a model's folder; raise UserError if they cannot be read."""
    try:
        scores = json.loads((folder / SCORES).read_text(encoding="utf-8"))
        no_answer = bool(scores["no_answer"])
    except UNREADABLE as error:
        raise damaged_file_error(SCORES) from error
    try:
        with (folder / ROWS).open(encoding="utf-8", newline="\n") as lines:
            rows = [_prediction(json.loads(line), no_answer) for line in lines]
        if not rows:
            raise ValueError("no rows")
    except UNREADABLE as error:
        raise damaged_file_error(ROWS) from error
    return AnswerResults(tuple(sorted(rows, key=lambda row: (row.exact_match, row.f1))), scores)


def _prediction(value: Mapping[str, Any], no_answer: bool) -> AnswerPrediction:
    passage = str(value["passage"])
    pairs = zip(map(str, value["answers"]), map(int, value["answer_starts"]), strict=True)
    asked = PassageQuestion(
        str(value["id"]), str(value["question"]), passage, tuple(GoldAnswer(text, start) for text, start in pairs)
    )
    said, start, share = str(value["said"]), value["answer_start"], value["probability"]
    return AnswerPrediction(
        asked,
        said,
        None if start is None else (int(start), int(start) + len(said)),
        None if share is None else float(share),
        float(value["exact_match"]),
        float(value["f1"]),
        score_answer(nearest_sentence(asked.question, passage), asked, no_answer)[1],
    )
