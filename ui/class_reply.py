"""A teacher's question to a class of students: its buttons, the student's field, and the class's answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from classroom.errors import NotInClass
from classroom.question import (
    LONGEST_ANSWER,
    Question,
    count_answers,
    count_correct,
    format_answer,
    format_prompt,
    format_truth,
    is_correct,
)
from classroom.room_views import StudentView, TeacherView
from i18n import _
from ui.run.classes import store, visitor_secret
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.text import escape_except_emphasis, escape_markdown, join_sentences, remove_emphasis
from ui.state import classroom
from ui.state.session import current_view, get_view_state, own_query
from viz.figures.theme import truncate
from viz.figures.token_bars import bars

MOST, MOST_HEADS = 30, 12  # Maximum number of answers drawn, and of heads.
LONGEST_TITLE = 48  # characters of a question in the title of its chart, which a phone has room for
LABEL_WIDTH, LABEL_LINES = 22, 3  # characters in a line of an answer at its bar, and lines
PROBLEM, FIELD = "class_problem", "_field"  # Session key of a refusal, and the end of the keys of the field.
# Session key: the place (``place_of``) where the answers were first shown, by (code, question).
REVEALED = "class_revealed"


def draw_answers(question: Question, said: Sequence[str], key: str, own: str | None = None) -> None:
    """Draw the students' answers ``said`` to a teacher's question.

    Sentences are a list, and other answers a bar chart, the most frequent first; the last line or bar counts all
    others. ``own`` is the visitor's own answer, or None. ``key`` is the widget key.
    """
    show_notice(summary(question, said, own), role="status")
    if not said:
        return
    counted = count_answers(question, said)
    # No single answer widens the chart: a head may lie in no layer of any model.
    most = MOST_HEADS if question.kind == "head" else MOST
    found, rest = counted[:most], sum(n for _answer, n in counted[most:])
    if question.kind == "text":
        lines = [f"{escape_markdown(answer)}{f' × {n}' if n > 1 else ''}" for answer, n in found]
        st.markdown("\n".join(f"- {line}" for line in [*lines, *([f"… (+ {rest})"] if rest else [])]))
    else:
        marked = [at for at, (answer, _n) in enumerate(found) if question.truth and is_correct(question, answer)]
        labels = [format_answer(question, answer) for answer, _n in found]
        prompt = " ".join(remove_emphasis(format_prompt(question)).split())
        figure = bars(
            [f"✓ {label}" if at in marked else label for at, label in enumerate(labels)],
            [n for _answer, n in found],
            theme(),
            truncate(prompt, LONGEST_TITLE),
            _("answers"),
            other=rest or None,
            marked=marked,
            longest=LABEL_WIDTH,
            lines=LABEL_LINES,
        )
        draw_chart(figure, key, about=lambda: {"question": prompt}, test=None)


def summary(question: Question, said: Sequence[str], own: str | None) -> str:
    """Return sentences on the students' answers ``said``: their number, and how many are correct.

    If the teacher gave a correct answer, the sentences state it. They also state the visitor's ``own`` answer, if any.
    """
    parts = [_("Answers: {n}.", n=len(said))]
    if question.truth:
        parts.append(_("Correct answer: {truth}.", truth=_without_stop(format_truth(question))))
        found = count_correct(question, said) or 0
        parts.append(_("Correct: {n}.", n=found))
    if own is not None:
        parts.append(_("Your answer: {own}.", own=_without_stop(format_answer(question, own))))
    return join_sentences(*parts)


def open_question_number(code: str) -> int | None:
    """Return the number of the question that the teacher's class answers now; None if there is none."""
    try:
        return store().board(code, visitor_secret()).open_question
    except NotInClass:
        return None


def draw_ask_button(
    label: str, ends: int | None, key: str, ask: Callable[..., None], args: tuple[Any, ...], **looks: Any
) -> None:
    """Draw the button that calls ``ask`` to ask the class a question.

    If that closes the open question ``ends``, the teacher confirms it. ``looks`` are further arguments of the button.
    """
    if ends is None:
        st.button(label, key=key, on_click=ask, args=args, **looks)
        return
    with st.popover(label, key=f"{key}_{ends}", **looks):  # another key folds the popover after the question
        st.markdown(_("This closes question {number} without showing its answers.", number=ends))
        st.button(_("Confirm"), key=key, on_click=ask, args=args, type="primary", help=_("This cannot be undone"))


def draw_reveal_button(code: str, board: TeacherView, number: int) -> None:
    """Draw the button that shows the answers to question ``number`` to the class; the teacher confirms it."""
    help = _("To you and the students, after confirmation.")
    with st.popover(_("Show answers"), help=help, key=f"class_show_{number}"):  # another key folds the popover
        n = len(board.answers_to(number))
        st.markdown(
            _(
                "{n} of {all} have answered. Everybody sees all answers, without names; then nobody can answer.",
                n=n,
                all=board.count_asked(number),
            )
        )
        st.button(
            _("Confirm"),
            key="classroom_reveal",
            on_click=_reveal,
            args=(code, number),
            type="primary",
            help=_("This cannot be undone"),
        )


def _reveal(code: str, number: int) -> None:
    with suppress(NotInClass):  # the page shows the reason
        store().reveal(code, visitor_secret(), number)


def _without_stop(answer: str) -> str:
    """Return an answer without the full stop at its end, for use before a full stop.

    >>> _without_stop("It becomes larger."), _without_stop("变大。"), _without_stop("0.5")
    ('It becomes larger', '变大', '0.5')
    """
    return answer.rstrip().removesuffix(".").removesuffix("。")


def draw_reply(code: str, seen: StudentView) -> None:
    """Draw a field to answer the teacher's question, or the class's answers if they are revealed.

    If the student has answered already, the field is in a collapsed expander below the question and the answer.
    """
    question, number = seen.question, seen.asked
    if question is None or number is None:
        return
    if seen.revealed:
        # The answers are open on the page, or the step of a lesson, on which the visitor first sees them.
        here = classroom.place_of(current_view(), own_query())
        first = st.session_state.setdefault(REVEALED, {}).setdefault((code, number), here)
        with st.expander(_("Question {number}", number=number), expanded=first == here):
            st.markdown(escape_except_emphasis(format_prompt(question)))
            draw_answers(question, seen.said, f"class_answers_{number}", own=seen.own)
        return
    problem = st.session_state.pop(PROBLEM, None)
    _draw_prompt(question, number)
    if seen.own is None:
        _draw_form(code, number, question, None)
    else:
        show_notice(_("Your answer: {own}.", own=_without_stop(format_answer(question, seen.own))), role="status")
        with st.expander(_("Change my answer"), bool(problem)):
            _draw_form(code, number, question, seen.own)
    if problem:
        show_notice(problem)


def question_text(seen: StudentView) -> str:
    """Return the open question that a student has not answered, with its number and without emphasis; "" if none."""
    if seen.question is None or seen.revealed or seen.own is not None:
        return ""
    return remove_emphasis(_prompt_with_number(seen.asked, format_prompt(seen.question)))


def _draw_prompt(question: Question, number: int) -> None:
    st.markdown(_prompt_with_number(number, escape_except_emphasis(format_prompt(question))))


def _prompt_with_number(number: int | None, prompt: str) -> str:
    return _("**Question {number}.** {prompt}", number=number, prompt=prompt)


def _draw_form(code: str, number: int, question: Question, own: str | None) -> None:
    """Draw the controls for the answer to a question."""
    key = f"class_reply_{code}_{number}"
    with st.form(key, border=False):
        _draw_field(question, key, own)
        st.form_submit_button(
            _("Answer"),
            on_click=lambda: _send(code, number, str(st.session_state[key + FIELD] or "")),
            help=_("Only your teacher sees it, until all answers are shown without names"),
        )
    if question.kind == "head":
        _draw_head_button(code, number)


def _draw_field(question: Question, key: str, own: str | None) -> None:
    if question.kind == "choice":
        at = question.options.index(own) if own in question.options else None
        texts = {option: escape_except_emphasis(format_answer(question, option)) for option in question.options}
        st.radio(_("Your answer"), question.options, index=at, key=key + FIELD, format_func=texts.__getitem__)
        return
    helps = {
        "number": _("Two digits or more if rounded, such as {example}", example=question.example),
        "head": _("Layer and head from 0, such as 3-7 or L3H7"),
        "word": _("One word or token"),
        "text": _("A sentence of your own"),
    }
    hint = helps[question.kind]
    # The field has all digits of a number.
    shown = own or "" if question.kind == "number" else format_answer(question, own or "")
    st.text_input(_("Your answer"), shown, LONGEST_ANSWER, key=key + FIELD, help=hint, placeholder=hint)


def _draw_head_button(code: str, number: int) -> None:
    """Draw a button that answers with the selected head, if a head is selected."""
    choice = get_view_state()
    if choice.layer is not None and choice.head is not None:
        name = f"{choice.layer}-{choice.head}"
        st.button(
            _("Use head {shown}", shown=name),
            key="class_shown_head",
            on_click=_send,
            args=(code, number, name),
            help=_("The head chosen on this page"),
        )


def _send(code: str, number: int, said: str) -> None:
    try:
        store().answer(code, visitor_secret(), number, said)
    except NotInClass as refusal:
        st.session_state[PROBLEM] = refusal.sentence
    else:
        st.session_state.pop(PROBLEM, None)
