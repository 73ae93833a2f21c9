"""Many short questions in a row: how far it is, and a way to stop that loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from inference.questions.question import Answer, PredictRequest
from ui.run.shelf import backend
from ui.run.stoppable import stoppable

Told = TypeVar("Told")


def ask_many(questions: Sequence[PredictRequest[Answer]], doing: str) -> list[Answer]:
    """The answers in order; fewer when the reader has stopped, which is said with a way to go on. Raises Refusal."""
    return one_by_one(questions, doing, lambda question: backend().predict(question))


def one_by_one(
    questions: Sequence[PredictRequest[Answer]], doing: str, ask: Callable[[PredictRequest[Answer]], Told]
) -> list[Told]:
    """The same with what ``ask`` makes of each question."""
    if not questions:
        return []
    mark = f"{questions[0].key}:{len(questions)}"
    return [ask(questions[at]) for at in stoppable(mark, len(questions), doing)]
