"""The form for a teacher's question to the students; its draft survives other pages and reloads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from classroom.errors import NotInClass
from classroom.question import KINDS, LONGEST_ANSWER, LONGEST_PROMPT, MOST_OPTIONS, PERCENT, Question
from classroom.store import MOST_ROOMS
from i18n import _, gettext_lazy, translate
from inference import UserError
from ui.class_reply import draw_ask_button
from ui.run.classes import store, visitor_secret
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.run.traces import request_of
from ui.state import classroom
from ui.state.view_state import parse
from ui.state.visitor_values import VisitorValues

NAMES = {
    "choice": gettext_lazy("One of several answers"),
    "number": gettext_lazy("Number"),
    "word": gettext_lazy("Word"),
    "head": gettext_lazy("Head"),
    "text": gettext_lazy("Sentence"),
}
KIND, PROMPT, OPTIONS, TRUTH, PROBLEM = (
    f"classroom_{name}" for name in ("kind", "prompt", "options", "truth", "wrong")
)
EMPTY = {KIND: "word", PROMPT: "", OPTIONS: "", TRUTH: ""}
DRAFT = "classroom_draft"  # Session key of the form's values by the key of their widget.
# Views of heads of the model in their address; in other views a substitute, a second model or no model may answer.
HEAD_VIEWS = (
    *("explore", "find", "break_head", "bertviz_views", "similarity"),
    *("step_by_step", "block", "whole_pass", "measure", "roles"),
)
_DRAFTS: VisitorValues[dict[str, str]] = VisitorValues(MOST_ROOMS)


def draw_question_form(code: str, open_question: int | None) -> None:
    """Draw the fields of the question, its kind of answer and the correct answer if known.

    ``open_question`` is the number of the question that the class answers now, or None.
    """
    # A projector does not show containers whose key begins with "private_" (assets/app.css).
    with st.container(key="private_form"), st.expander(_("Ask the class"), expanded=True):
        st.segmented_control(
            _("Answer type"),
            KINDS,
            required=True,
            format_func=lambda kind: translate(NAMES[kind]),
            **_keep_in(KIND),
        )
        st.text_area(
            _("Question"),
            max_chars=LONGEST_PROMPT,
            height=80,
            help=_("Shown above their page"),
            **_keep_in(PROMPT),
        )
        if st.session_state[KIND] == "choice":
            most = MOST_OPTIONS * LONGEST_ANSWER
            help = _("One per line")
            st.text_area(_("Choices"), height=110, max_chars=most, help=help, **_keep_in(OPTIONS))
        st.text_input(
            _("Correct answer (optional)"),
            max_chars=LONGEST_ANSWER,
            help=_("Shown with the answers. Head: such as 3-7. Rounding: two digits or more. 68 counts as 0.68."),
            **_keep_in(TRUTH),
        )
        draw_ask_button(_("Ask"), open_question, "classroom_ask", _ask, (code,), type="primary")
        if problem := st.session_state.pop(PROBLEM, None):
            show_notice(problem)


def forget_draft() -> None:
    """Empty the form of the teacher's question."""
    for key in (DRAFT, *EMPTY):
        st.session_state.pop(key, None)
    _DRAFTS.delete()


def _draft() -> dict[str, str]:
    """Return the form's values by the key of their widget; a new session begins with those that the visitor saved."""
    if DRAFT not in st.session_state:
        st.session_state[DRAFT] = EMPTY | (_DRAFTS.get() or {})
    found: dict[str, str] = st.session_state[DRAFT]
    return found


def _keep_in(key: str) -> dict[str, Any]:
    """Return the arguments of a widget that begins with its value in the draft, and saves its value there."""
    # Streamlit drops the state of a widget when its page is left.
    st.session_state.setdefault(key, _draft()[key])
    return {"key": key, "on_change": _save_field, "args": (key,)}


def _save_field(key: str) -> None:
    """Save the value of a field; a session that is ending may have dropped it."""
    if key in st.session_state:
        _save(**{key: st.session_state[key]})


def _save(**values: str) -> None:
    _draft().update(values)
    _DRAFTS.put(_draft())


def with_truth(question: Question, typed: str) -> Question:
    """Return a question with its correct answer, as a teacher typed it; raise NotInClass if it is not an answer.

    A number between 0 and 1 is a share, as in a lesson: its percentage without the sign is correct, too.

    >>> from classroom.question import is_correct
    >>> [is_correct(with_truth(Question("number", "?"), typed), "68") for typed in ("0.6774", "67.74%", "1.68")]
    [True, True, False]
    """
    truth = question.normal(typed)
    is_share = question.kind == "number" and not truth.endswith(PERCENT) and 0 < float(truth) < 1
    return replace(question, truth=truth, is_share=is_share)


def with_head_range(question: Question, presented: str | None) -> Question:
    """Return a question with the numbers of layers and of heads of the model that the class sees.

    ``presented`` is the URL that the teacher presents, or None. The question is unchanged if its view may use another
    model than the URL's, or an opened trace, or if the model cannot run.
    """
    found = None if presented is None else classroom.presented_view(presented)
    if found is None or found[0] not in HEAD_VIEWS:
        return question
    choice = parse(found[1])[0]
    if choice.opened:
        return question
    try:
        trace = get_backend().trace(request_of(choice))
    except UserError:
        return question
    stacks = [trace.records(part) for part in trace.parts]
    return replace(question, layers=max(map(len, stacks)), heads=max(one.heads for stack in stacks for one in stack))


def _ask(code: str) -> None:
    state = st.session_state
    options = [line.strip() for line in _draft()[OPTIONS].splitlines() if line.strip()]
    try:
        kind = state[KIND]
        question = Question(kind, state[PROMPT].strip(), tuple(dict.fromkeys(options)) if kind == "choice" else ())
        if kind == "head":
            question = with_head_range(question, store().board(code, visitor_secret()).view)
        if truth := state[TRUTH].strip():
            question = with_truth(question, truth)
        store().ask(code, visitor_secret(), question)
    except NotInClass as refusal:
        state[PROBLEM] = refusal.sentence
    else:
        emptied = dict.fromkeys((PROMPT, OPTIONS, TRUTH), "")
        state.update(emptied)
        _save(**emptied)
