"""The question that a teacher asked, where a student reads and answers it."""

from __future__ import annotations

import streamlit as st

from classroom.errors import NotInClass
from classroom.question import LONGEST_ANSWER, Question, format_answer
from classroom.views import StudentView
from i18n import _
from ui.classroom.answers import answers
from ui.run.classes import store, visitor_secret
from ui.run.notices import show_notice
from ui.show.markdown import escape_markdown
from ui.state.session import get_view_state

PROBLEM, FIELD = "class_problem", "_field"


def reply(code: str, seen: StudentView) -> None:
    """Draw the question with a field for the answer, folded once it is answered, or everybody's answers."""
    question, number = seen.question, seen.asked
    if question is None or number is None:
        return
    if seen.revealed:
        _prompt(question, number)
        answers(question, seen.said, f"class_answers_{number}", own=seen.own)
        return
    problem = st.session_state.pop(PROBLEM, None)
    if seen.own is None:
        _form(code, number, question, None)
    else:
        show_notice(_("Your answer: {own}", own=format_answer(question, seen.own)), role="status")
        with st.expander(_("Question {number}: read it again or change your answer", number=number), bool(problem)):
            _form(code, number, question, seen.own)
    if problem:
        show_notice(problem)


def _prompt(question: Question, number: int) -> None:
    st.markdown(_("**Question {number}.** {prompt}", number=number, prompt=escape_markdown(question.prompt)))


def _form(code: str, number: int, question: Question, own: str | None) -> None:
    """Draw the question and the ways to answer it."""
    _prompt(question, number)
    key = f"class_reply_{code}_{number}"
    with st.form(key, border=False):
        _field(question, key, own)
        st.form_submit_button(
            _("Answer") if own is None else _("Change my answer"),
            on_click=lambda: _send(code, number, str(st.session_state[key + FIELD] or "")),
            help=_("Only your teacher sees it, until the answers are shown to everybody without names"),
        )
    if question.kind == "head":
        _shown_head(code, number)


def _field(question: Question, key: str, own: str | None) -> None:
    if question.kind == "choice":
        at = question.options.index(own) if own in question.options else None
        st.radio(_("Your answer"), question.options, index=at, key=key + FIELD, format_func=escape_markdown)
        return
    helps = {
        "number": _("A number such as 0.25"),
        "head": _("Layer and head, both counted from 0, such as 3-7 or L3H7"),
        "word": _("One word of the text"),
        "text": _("A sentence of your own"),
    }
    st.text_input(
        _("Your answer"), format_answer(question, own or ""), LONGEST_ANSWER, key=key + FIELD, help=helps[question.kind]
    )


def _shown_head(code: str, number: int) -> None:
    """A head is answered by showing it."""
    choice = get_view_state()
    if choice.layer is not None and choice.head is not None:
        name = f"{choice.layer}-{choice.head}"
        st.button(
            _("Answer with the head that is shown: {shown}", shown=name),
            key="class_shown_head",
            on_click=_send,
            args=(code, number, name),
            help=_("The layer and the head that are chosen on this page"),
        )


def _send(code: str, number: int, said: str) -> None:
    try:
        store().answer(code, visitor_secret(), number, said)
    except NotInClass as refusal:
        st.session_state[PROBLEM] = refusal.sentence
    else:
        st.session_state.pop(PROBLEM, None)
