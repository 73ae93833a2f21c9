"""A reader's answers to the questions of lessons, which a reload keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from lessons.schema import Answer, LessonQuestion
from lessons.steps import format_answer
from ui.run.current_lesson import OWN, NamedLesson
from ui.state.visitor_values import VisitorValues

Key = tuple[str, int]  # (name of the lesson, index of the step)
ANSWERS, PLACES = "lesson_answers", "lesson_places"
MOST_KEPT, LONGEST_KEPT = 1_000, 24_000  # visitors whose answers a reload keeps, and characters of each
_KEPT: VisitorValues[dict[Key, StepAnswer]] = VisitorValues(MOST_KEPT)


@dataclass(frozen=True)
class StepAnswer:
    """The reader's answer at a step of a lesson, with the number of tries and hints."""

    answer: Answer | None = None  # a number as typed
    draft: Answer | None = None  # the last value of the control, which may not be checked or kept yet
    text: str = ""  # the answer as shown
    right: bool | None = None  # None if the answer was not checked
    solved: bool = False  # whether this or an earlier answer was right
    said: str = ""  # sentence with the numbers behind the right answer
    tries: int = 0
    hints: int = 0  # number of hints taken
    revealed: bool = False
    read: str = ""  # the text of the view when the reader answered
    room: str = ""  # code of the class in which the answer was given, or ""

    @property
    def is_over(self) -> bool:
        """Return True if the step is answered or revealed, so that the text after the answer may be shown.

        A wrong answer does not count, unless an earlier answer was right; an answer that cannot be checked does.
        """
        return self.revealed or self.solved or (self.tries > 0 and self.right is None)


def answer_at(name: str, step: int) -> StepAnswer:
    """Return the stored answer at a step of a lesson."""
    found: StepAnswer = _all_answers().get((name, step), StepAnswer())
    return found


def adopt_draft(question: LessonQuestion, found: StepAnswer) -> StepAnswer:
    """Return an answer as the worksheet contains it: that in the field if any answer is accepted, kept or not."""
    if question.is_checked or found.draft is None:
        return found
    return replace(found, answer=found.draft or None, text=format_answer(question, found.draft).strip())


def note(name: str, step: int, **changes: Any) -> StepAnswer:
    """Change fields of the stored answer at a step of a lesson, and return the answer."""
    _all_answers()[name, step] = now = replace(answer_at(name, step), **changes)
    _save()
    return now


def remember_place(name: str, step: int) -> None:
    """Store the reader's current step of a lesson."""
    st.session_state.setdefault(PLACES, {})[name] = step


def place(name: str) -> int:
    """Return the step at which the reader was last in a lesson."""
    found: int = st.session_state.get(PLACES, {}).get(name, 0)
    return found


def forget(name: str) -> None:
    """Delete all answers of a lesson, and empty its fields."""
    _delete(lambda key, _found: key[0] == name)
    _empty_fields(f"lesson_{name}_")


def forget_class_answers(code: str) -> None:
    """Delete the answers that were given in a class, and empty their fields."""
    for name, step in _delete(lambda _key, found: found.room == code):
        _empty_fields(f"lesson_{name}_{step}_")


def _delete(is_deleted: Callable[[Key, StepAnswer], bool]) -> set[Key]:
    """Delete answers from this session and from the saved ones, and return their keys."""
    answers, saved = _all_answers(), dict(_KEPT.get() or {})
    keys = {key for kept in (answers, saved) for key, found in kept.items() if is_deleted(key, found)}
    for key in keys:
        answers.pop(key, None)
        saved.pop(key, None)
    _KEPT.put(saved)
    _save()
    return keys


def _empty_fields(beginning: str) -> None:
    """Delete the state of the widgets whose keys begin with ``beginning``."""
    for field in [field for field in st.session_state if str(field).startswith(beginning)]:
        del st.session_state[field]


def count_answered(known: NamedLesson) -> tuple[int, int]:
    """Return the number of answered questions of a lesson, and of all its questions.

    A wrong answer counts, and so does a free answer in its field, because the worksheet contains them. A question whose
    solution a class opened does not count if this reader gave no answer.
    """
    asked = [(step.question, answer_at(known.name, at)) for at, step in enumerate(known.lesson.steps) if step.question]
    answered = (
        found.tries > 0 if question.is_checked else bool(adopt_draft(question, found).text) for question, found in asked
    )
    return sum(answered), len(asked)


def _all_answers() -> dict[Key, StepAnswer]:
    """Return the answers by lesson and step; a new session begins with those that the visitor saved."""
    if ANSWERS not in st.session_state:
        st.session_state[ANSWERS] = dict(_KEPT.get() or {})
    kept: dict[Key, StepAnswer] = st.session_state[ANSWERS]
    return kept


def _save() -> None:
    """Save the answers for a reload, except to the reader's own lesson, which may change."""
    saved = {key: one for key, one in _all_answers().items() if key[0] != OWN}
    if sum(len(one.text) + len(one.read) + _draft_length(one) for one in saved.values()) <= LONGEST_KEPT:
        _KEPT.put(saved)


def _draft_length(found: StepAnswer) -> int:
    """Return the characters of a typed draft."""
    return len(found.draft) if isinstance(found.draft, str) else 0
