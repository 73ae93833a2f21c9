"""A lesson's question to a whole class, with the model's answer for the reveal."""

from __future__ import annotations

import streamlit as st

from classroom.errors import NotInClass
from classroom.question import KINDS, Kind
from classroom.question import Question as Asked
from i18n import _
from inference import UserError
from lessons.answer_key import CheckedAnswer, Unanswerable
from lessons.schema import LessonQuestion
from lessons.steps import markdown_of, right_answer
from ui.pages.lessons.views import StepView
from ui.run.classes import store, visitor_secret
from ui.run.notices import show_notice
from ui.state import classroom

PROBLEM = "lesson_to_class_problem"


def draw_class_button(question: LessonQuestion, seen: StepView) -> None:
    """Draw the button that sends the question to the class, if this session teaches a class."""
    code = classroom.code()
    if code is None or not store().teaches(code, visitor_secret()):
        return
    st.button(
        _("Ask class {code} this", code=code),
        key="lesson_to_class",
        on_click=_ask,
        args=(code, question, seen),
        icon=":material/groups:",
        help=_("Students answer above their page; you see the answers on Class."),
    )
    if problem := st.session_state.pop(PROBLEM, None):
        show_notice(problem)


def class_question(question: LessonQuestion, right: CheckedAnswer | None, seen: StepView) -> Asked:
    """Return the question in the form for a class.

    A choice is given by its texts, and a token by its word.
    """
    prompt, tolerance = markdown_of(question.ask), right.tolerance if right else 0.0
    if question.kind == "choice":
        texts = {key: markdown_of(text) for key, text in question.choices}
        return Asked("choice", prompt, tuple(texts.values()), texts.get(str(right.answer), "") if right else "")
    if right is None or question.kind == "text":
        return Asked(_kind(question.kind), prompt)
    if isinstance(right.answer, tuple):
        return Asked("head", prompt, truth="{}.{}".format(*right.answer))
    if question.kind == "token" and isinstance(right.answer, int) and seen.view is not None:
        return Asked("word", prompt, truth=seen.view.keys[right.answer].text)
    if isinstance(right.answer, int | float):
        return Asked("number", prompt, truth=f"{right.answer:g}", tolerance=tolerance)
    return Asked("word", prompt, truth=right.answer)


def _kind(kind: str) -> Kind:
    """Return the kind of question for a class; a token is answered by a word."""
    return next(known for known in KINDS if known == ("word" if kind == "token" else kind))


def _ask(code: str, question: LessonQuestion, seen: StepView) -> None:
    try:
        right = right_answer(question, seen.asked)
    except (Unanswerable, UserError):
        right = None  # the class can answer without a right answer
    try:
        store().ask(code, visitor_secret(), class_question(question, right, seen))
    except NotInClass as refusal:
        st.session_state[PROBLEM] = refusal.sentence
