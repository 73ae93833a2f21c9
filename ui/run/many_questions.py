"""Many short questions in a row: how far it is, and a way to stop that loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from inference.tasks.model_request import Answer, PredictRequest
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend

Told = TypeVar("Told")


def ask_many(questions: Sequence[PredictRequest[Answer]], doing: str) -> list[Answer]:
    """The answers in order; fewer when the reader has stopped, which is said with a way to go on. Raises Refusal."""
    return map_questions(questions, doing, lambda question: get_backend().predict(question))


def map_questions(
    questions: Sequence[PredictRequest[Answer]], doing: str, ask: Callable[[PredictRequest[Answer]], Told]
) -> list[Told]:
    """The same with what ``ask`` makes of each question."""
    if not questions:
        return []
    mark = f"{questions[0].key}:{len(questions)}"
    return [ask(questions[at]) for at in stoppable_steps(mark, len(questions), doing)]
