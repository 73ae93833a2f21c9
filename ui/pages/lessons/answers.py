"""The reader's answers to a lesson, which a reload keeps, and the worksheet that contains them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from i18n import _, translate
from lessons.schema import Answer
from ui.pages.lessons.current_lesson import NamedLesson
from ui.pages.lessons.markdown import translate_markdown as shown
from ui.pages.lessons.options import OWN
from ui.show.tables import csv_table, download_button
from ui.state.visitor_values import VisitorValues

ANSWERS, PLACES = "lesson_answers", "lesson_places"
MOST_KEPT, LONGEST_KEPT = 1_000, 24_000  # visitors whose answers a reload keeps, and characters of each
_KEPT: VisitorValues[dict[tuple[str, int], StepAnswer]] = VisitorValues(MOST_KEPT)


@dataclass(frozen=True)
class StepAnswer:
    """The reader's answer at a step, with tries and hints."""

    answer: Answer | None = None
    text: str = ""  # the answer as shown
    right: bool | None = None  # None if the answer was not checked
    said: str = ""  # sentence with the numbers behind the right answer
    tries: int = 0
    hints: int = 0  # number of hints taken
    revealed: bool = False
    read: str = ""  # the reader's own text, if the question is about it

    @property
    def is_over(self) -> bool:
        """Return whether the text after the answer may be shown."""
        return self.revealed or self.right is True or (self.tries > 0 and self.right is None)


def answer_at(name: str, step: int) -> StepAnswer:
    """Return the stored answer at a step of a lesson."""
    found: StepAnswer = _all_answers().get((name, step), StepAnswer())
    return found


def note(name: str, step: int, **changes: Any) -> StepAnswer:
    """Update the stored answer at a step of a lesson, and return it."""
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
    """Delete all answers of a lesson."""
    for key in [key for key in _all_answers() if key[0] == name]:
        del _all_answers()[key]
    _save()


def count_answered(known: NamedLesson) -> tuple[int, int]:
    """Return the number of answered questions of a lesson, and of all its questions."""
    asked = [at for at, step in enumerate(known.lesson.steps) if step.question]
    return sum(answer_at(known.name, at).is_over for at in asked), len(asked)


def worksheet(known: NamedLesson) -> None:
    """Draw the buttons that save the answers."""
    with st.container(horizontal=True):
        download_button(
            _("Save the worksheet"),
            in_markdown(known),
            "headlight-worksheet.md",
            _("Every question with your answer, as text"),
            kind="text/markdown",
            key="worksheet_text",
        )
        rows = [
            (at + 1, shown(step.title), found.text, _right(found), found.tries, found.hints, found.read)
            for at, step, found in _question_steps(known)
        ]
        names = ("step", "title", "answer", "right", "tries", "hints", "own_text")
        download_button(
            _("Save as CSV"),
            csv_table(names, rows),
            "headlight-worksheet.csv",
            _("Table"),
            key="worksheet_table",
        )


def in_markdown(known: NamedLesson) -> str:
    """Return the worksheet as Markdown, with the reader's answers as quotations."""
    lines = [f"# {shown(known.lesson.title)}", ""]
    for at, step, found in _question_steps(known):
        lines += [f"## {at + 1}. {shown(step.title)}", ""]
        lines += [shown(step.question.ask), ""] if step.question else []
        lines += [_("Read: {text}", text=found.read), ""] if found.read else []
        lines += [*(f"> {line}" for line in (found.text or "–").splitlines()), ""]
        if found.is_over and found.said:
            lines += [f"{_right(found)} {translate(found.said)}".strip(), ""]
    return "\n".join(lines)


def _right(found: StepAnswer) -> str:
    return "" if found.right is None else _("Right.") if found.right else _("Not right.")


def _question_steps(known: NamedLesson) -> list[tuple[int, Any, StepAnswer]]:
    """Return (index, step, answer) of each step with a question."""
    return [(at, step, answer_at(known.name, at)) for at, step in enumerate(known.lesson.steps) if step.question]


def _all_answers() -> dict[tuple[str, int], StepAnswer]:
    """Return the answers by lesson and step; a new session begins with those that the visitor saved."""
    if ANSWERS not in st.session_state:
        st.session_state[ANSWERS] = dict(_KEPT.get() or {})
    kept: dict[tuple[str, int], StepAnswer] = st.session_state[ANSWERS]
    return kept


def _save() -> None:
    """Save the answers for a reload, except to the reader's own lesson, which may change."""
    saved = {key: one for key, one in _all_answers().items() if key[0] != OWN}
    if sum(len(one.text) + len(one.read) for one in saved.values()) <= LONGEST_KEPT:
        _KEPT.put(saved)
