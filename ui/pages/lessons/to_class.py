"""A lesson's question to a whole class: with what the model answers, computed here, to be shown after the reveal."""

from __future__ import annotations

import streamlit as st

from classroom.errors import NotInClass
from classroom.question import KINDS, Kind
from classroom.question import Question as Asked
from inference import Refusal
from lessons.schema import Question
from lessons.truth import Truth, Unanswerable
from ui.pages.lessons.markdown import told
from ui.pages.lessons.questions import right_answer
from ui.pages.lessons.views import Seen
from ui.run.classes import myself, store
from ui.run.refusals import say
from ui.state import attending
from wording import _

PROBLEM = "lesson_to_class_problem"


def to_class(question: Question, seen: Seen) -> None:
    """A button, where this session teaches a class."""
    code = attending.code()
    if code is None or not store().teaches(code, myself()):
        return
    st.button(
        _("Ask class {code} this", code=code),
        key="lesson_to_class",
        on_click=_ask,
        args=(code, question, seen),
        icon=":material/groups:",
        help=_("Everybody in your class answers it above their page; you see the answers on the page A class"),
    )
    if problem := st.session_state.pop(PROBLEM, None):
        say(problem)


def asked(question: Question, right: Truth | None, seen: Seen) -> Asked:
    """The question as a class is asked it; of a choice the texts, of a token its word."""
    prompt, tolerance = told(question.ask), right.tolerance if right else 0.0
    if question.kind == "choice":
        texts = {key: told(text) for key, text in question.choices}
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
    """A class answers with a word where a lesson has a list of tokens."""
    return next(known for known in KINDS if known == ("word" if kind == "token" else kind))


def _ask(code: str, question: Question, seen: Seen) -> None:
    try:
        right = right_answer(question, seen)
    except (Unanswerable, Refusal):
        right = None  # nothing is right on this text; the class answers all the same
    try:
        store().ask(code, myself(), asked(question, right, seen))
    except NotInClass as refusal:
        st.session_state[PROBLEM] = refusal.sentence
