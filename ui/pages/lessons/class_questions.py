"""A lesson's questions that a class of students answers: asking them, and adopting the class's answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from classroom.errors import NotInClass
from classroom.question import KINDS, PERCENT, Kind, TranslatedQuestion, is_correct
from classroom.question import Question as Asked
from classroom.room_views import ClosedAnswer, TeacherView
from i18n import _, active_language, available_languages, gettext_lazy, translate, use_language
from inference import UserError
from lessons.answer_key import CheckedAnswer, Unanswerable
from lessons.schema import Answer, LessonQuestion
from lessons.steps import format_answer, markdown_of, right_answer
from ui.class_reply import draw_answers, draw_ask_button, draw_reveal_button, open_question_number
from ui.classroom import EVERY
from ui.pages.lessons.views import StepView
from ui.run.classes import store, visitor_secret
from ui.run.current_lesson import NamedLesson, is_teacher
from ui.run.lesson_answers import Key, answer_at, note
from ui.run.notices import show_notice
from ui.run.redrawing import redraw_every
from ui.state import classroom

PROBLEM = "lesson_to_class_problem"
POLLED = gettext_lazy("The class is answering. Solution and hidden parts open when the answers are shown.")
ADOPTED = "lesson_adopted"  # session key: (code, number) of the class's questions whose answers were adopted


def is_polled(key: Key, question: LessonQuestion) -> bool:
    """Return True while the class answers this question, so that the lesson must not reveal the answer.

    It is False as soon as the class's answers are shown or another question is asked. A teacher's page may be on a
    projector, so it hides the answer too. ``key`` is (lesson, step).
    """
    asked = open_question()
    return asked is not None and is_asked(asked, key, question)


def is_asked(asked: Asked, key: Key, question: LessonQuestion) -> bool:
    """Return True if a class's question is that of a lesson's step; ``key`` is (lesson, step)."""
    if asked.step != _step(key):
        return False
    # Own lessons of different readers have the same name.
    return asked.prompt in [_translation(question, code).prompt for code in available_languages()]


def open_question() -> Asked | None:
    """Return the question that the class answers now, or None."""
    code = classroom.code()
    if code is None:
        return None
    if (board := _taught_class()) is not None:
        return None if board.open_question is None else board.questions[board.open_question - 1]
    try:
        room = store().student_view(code, visitor_secret())
    except NotInClass:
        return None
    return None if room.revealed else room.question


def _taught_class() -> TeacherView | None:
    """Return the class of students that this session teaches, or None."""
    code = classroom.code()
    if code is None or not is_teacher():
        return None
    try:
        return store().board(code, visitor_secret())
    except NotInClass:
        return None


def draw_polled_question(question: LessonQuestion) -> None:
    """Draw a question while the class answers it: for the teacher, its text; for students, where to answer.

    A student who has answered reads when the solution opens. The teacher has the button that opens it.
    """
    if not is_teacher():
        show_notice(translate(POLLED) if _has_answered() else _("Answer the class's question above."), role="status")
        return
    st.markdown(_("**Question.** {ask}", ask=markdown_of(question.ask)))
    if question.choices:
        st.markdown("\n".join(f"- {markdown_of(text)}" for _key, text in question.choices))
    show_notice(translate(POLLED), role="status")
    if (board := _taught_class()) is not None:
        redraw_every(EVERY, _draw_reveal_button, board.asked)


def _draw_reveal_button(number: int) -> None:
    """Draw the button that shows the answers; run the page again if ``number`` is no longer the open question."""
    code, board = classroom.code(), _taught_class()
    if code is None or board is None or board.open_question != number:
        st.rerun()
    draw_reveal_button(code, board, number)


def _has_answered() -> bool:
    """Return True if this student has answered the latest question of the class."""
    code = classroom.code()
    if code is None:
        return False
    try:
        return store().student_view(code, visitor_secret()).own is not None
    except NotInClass:
        return False


def adopt_class_answers(known: NamedLesson) -> None:
    """Store a student's answers to the class's questions of a lesson as the first answers of their steps.

    A question counts when it takes no more answers; the solution opens if the class sees all answers. It opens for the
    teacher and for students who have not answered, too.
    """
    code = classroom.code()
    if code is None:
        return
    if (board := _taught_class()) is not None:
        if board.asked is not None and board.revealed:
            _open_solution(code, board.asked, board.questions[board.asked - 1], known)
        return
    adopted: set[tuple[str, int]] = st.session_state.setdefault(ADOPTED, set())
    try:
        room = store().student_view(code, visitor_secret())
        closed = store().closed_answers(code, visitor_secret())
    except NotInClass:
        return
    for one in closed:
        for at, step in enumerate(known.lesson.steps):
            key, question = (known.name, at), step.question
            if question is None or (code, one.number) in adopted or not is_asked(one.question, key, question):
                continue
            adopted.add((code, one.number))
            if not answer_at(*key).tries:
                _adopt(code, key, question, one)
    if room.revealed and room.own is None and room.question is not None and room.asked is not None:
        _open_solution(code, room.asked, room.question, known)


def _open_solution(code: str, number: int, asked: Asked, known: NamedLesson) -> None:
    """Reveal the answer of the step whose question, ``asked``, is the class's question ``number``, once."""
    adopted: set[tuple[str, int]] = st.session_state.setdefault(ADOPTED, set())
    if (code, number) in adopted:
        return
    for at, step in enumerate(known.lesson.steps):
        if step.question is not None and is_asked(asked, (known.name, at), step.question):
            adopted.add((code, number))
            note(known.name, at, revealed=True)


def draw_class_answers(key: Key, question: LessonQuestion) -> None:
    """Draw the class's answers to the question on the teacher's page, if the class sees them."""
    board = _taught_class()
    if board is None or board.asked is None or not board.revealed:
        return
    asked = board.questions[board.asked - 1]
    if is_asked(asked, key, question):
        draw_answers(asked, board.answers_to(board.asked), "lesson_class_answers")


def _adopt(code: str, key: Key, question: LessonQuestion, one: ClosedAnswer) -> None:
    """Store an answer to the class ``code`` at its step; a token stays unselected, as the class typed its word."""
    answer: Answer | None = one.said
    if question.kind == "choice":
        answer = question.choices[one.question.options.index(one.said)][0]
    elif question.kind == "head":
        layer, _point, head = one.said.partition(".")
        answer = (int(layer), int(head))
    elif question.kind == "token":
        answer = None
    right = is_correct(one.question, one.said) if one.question.truth else None
    note(
        *key,
        answer=answer,
        draft=answer if isinstance(answer, str) else None,
        text=one.said if answer is None else format_answer(question, answer),
        right=right,
        solved=right is True,
        tries=1,
        revealed=one.is_shown and right is not None,
        room=code,
    )


def _step(key: Key) -> str:
    return "{}/{}".format(*key)


def draw_class_button(key: Key, question: LessonQuestion, seen: StepView) -> None:
    """Draw the button that sends the question to the class, if this session teaches a class."""
    code = classroom.code()
    if code is None or not store().teaches(code, visitor_secret()):
        return
    draw_ask_button(
        _("Ask class {code} this", code=code),
        open_question_number(code),
        "lesson_to_class",
        _ask,
        (code, key, question, seen),
        icon=":material/groups:",
        help=_("Students answer above their page; you see the answers on Class."),
    )
    if problem := st.session_state.pop(PROBLEM, None):
        show_notice(problem)


def class_question(key: Key, question: LessonQuestion, right: CheckedAnswer | None, seen: StepView) -> Asked:
    """Return a lesson's question in the form in which a class is asked, with its translations.

    The choices are texts, and a token is answered by its word. ``right`` is the correct answer, or None if it is
    unknown.
    """
    asked = _in_own_language(question, right, seen)
    others = [code for code in available_languages() if code != active_language()]
    found = [_translation(question, code) for code in others]
    given = [one for one in found if (one.prompt, one.options) != (asked.prompt, asked.options)]
    return replace(asked, step=_step(key), translations=tuple(given))


def _translation(question: LessonQuestion, language: str) -> TranslatedQuestion:
    with use_language(language):
        return TranslatedQuestion(
            language, markdown_of(question.ask), tuple(markdown_of(text) for _key, text in question.choices)
        )


def _in_own_language(question: LessonQuestion, right: CheckedAnswer | None, seen: StepView) -> Asked:
    """Return a lesson's question as a question to the class in the teacher's language."""
    prompt, tolerance = markdown_of(question.ask), right.tolerance if right else 0.0
    if question.kind == "choice":
        texts = {key: markdown_of(text) for key, text in question.choices}
        return Asked("choice", prompt, tuple(texts.values()), texts.get(str(right.answer), "") if right else "")
    if right is None or question.kind == "text":
        return Asked(_kind(question.kind), prompt, **_head_range(question, seen))
    if isinstance(right.answer, tuple):
        return Asked("head", prompt, truth="{}.{}".format(*right.answer), **_head_range(question, seen))
    if question.kind == "token" and isinstance(right.answer, int) and seen.view is not None:
        keys, reading = seen.view.keys, seen.asked.reading
        forms = (form for key in keys for form in (key.label, key.text))
        source = " ".join([reading.text, reading.pair, reading.target, *forms])
        return Asked("word", prompt, truth=keys[right.answer].text, source=source)
    if isinstance(right.answer, int | float):
        if right.is_share:
            return Asked("number", prompt, truth=f"{right.answer:g}", tolerance=tolerance, is_share=True)
        # A class accepts a share and a percentage if the correct answer is a percentage.
        truth = f"{right.answer:g}{PERCENT if right.is_percentage else ''}"
        return Asked("number", prompt, truth=truth, tolerance=tolerance, is_count=right.is_count)
    return Asked("word", prompt, truth=right.answer)


def _head_range(question: LessonQuestion, seen: StepView) -> dict[str, Any]:
    """Return the numbers of layers and of heads for a question about a head, else an empty dictionary."""
    if question.kind != "head" or seen.view is None:
        return {}
    return {"layers": seen.view.layers, "heads": seen.view.heads}


def _kind(kind: str) -> Kind:
    """Return the kind of question for a class; a token is answered by a word."""
    return next(known for known in KINDS if known == ("word" if kind == "token" else kind))


def _ask(code: str, key: Key, question: LessonQuestion, seen: StepView) -> None:
    try:
        right = right_answer(question, seen.asked)
    except (Unanswerable, UserError):
        right = None  # the class can answer without a right answer
    try:
        store().ask(code, visitor_secret(), class_question(key, question, right, seen))
    except NotInClass as refusal:
        st.session_state[PROBLEM] = refusal.sentence
