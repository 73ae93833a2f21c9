"""The teacher's form for a question to the class."""

from __future__ import annotations

import streamlit as st

from classroom.errors import NotInClass
from classroom.question import KINDS, LONGEST_PROMPT, Question
from i18n import _, gettext_lazy, translate
from ui.run.classes import store, visitor_secret
from ui.run.notices import show_notice

NAMES = {
    "choice": gettext_lazy("One of several answers"),
    "number": gettext_lazy("A number"),
    "word": gettext_lazy("A word"),
    "head": gettext_lazy("A head"),
    "text": gettext_lazy("A sentence"),
}
KIND, PROMPT, OPTIONS, TRUTH, PROBLEM = (
    f"classroom_{name}" for name in ("kind", "prompt", "options", "truth", "wrong")
)


def draw_question_form(code: str) -> None:
    """Draw the fields of the question, its kind of answer and the correct answer if known."""
    with st.expander(_("Ask the class"), expanded=True):
        st.segmented_control(
            _("The answer is"),
            KINDS,
            key=KIND,
            default="word",
            required=True,
            format_func=lambda kind: translate(NAMES[kind]),
            help=_("How students answer, and how the answers are drawn"),
        )
        st.text_area(
            _("Question"), key=PROMPT, max_chars=LONGEST_PROMPT, height=80, help=_("Everybody sees it above their page")
        )
        if st.session_state[KIND] == "choice":
            st.text_area(_("Choices"), key=OPTIONS, height=110, help=_("One on each line, 2 to 12"))
        st.text_input(
            _("Correct answer"),
            key=TRUTH,
            help=_("Shown with the answers; a head such as 3-7, both counted from 0"),
        )
        st.button(
            _("Ask"), key="classroom_ask", on_click=_ask, args=(code,), type="primary", help=_("To everybody, now")
        )
        if problem := st.session_state.pop(PROBLEM, None):
            show_notice(problem)


def _ask(code: str) -> None:
    state = st.session_state
    options = [line.strip() for line in state.get(OPTIONS, "").splitlines() if line.strip()]
    try:
        kind = state[KIND]
        question = Question(kind, state[PROMPT].strip(), tuple(dict.fromkeys(options)) if kind == "choice" else ())
        if truth := state[TRUTH].strip():
            question = Question(question.kind, question.prompt, question.options, question.normal(truth))
        store().ask(code, visitor_secret(), question)
    except NotInClass as refusal:
        state[PROBLEM] = refusal.sentence
    else:
        state[PROMPT] = state[TRUTH] = ""
