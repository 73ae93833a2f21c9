"""The teacher's page of a lesson: aims, plan, expected answers computed now, and common mistakes."""

from __future__ import annotations

import streamlit as st

from i18n import _, ngettext
from i18n import translate as told_here
from inference import UserError
from lessons.answer_key import Unanswerable
from lessons.schema import LessonStep, Teacher
from ui.pages.lessons.current_lesson import NamedLesson
from ui.pages.lessons.markdown import draw_markdown, translate_markdown
from ui.pages.lessons.options import PLAY, LessonsOptions
from ui.pages.lessons.questions import format_answer, right_answer
from ui.pages.lessons.views import StepView, empty_view
from ui.run.notices import show_notice
from ui.state.params import set_params


def draw_teachers_key(known: NamedLesson, teacher: Teacher) -> None:
    """Draw the teacher's key on a single page that can be printed."""
    st.button(_("To the lesson"), on_click=set_params, args=(LessonsOptions,), kwargs={"show": PLAY},
              icon=":material/arrow_back:", help=_("As students see it"))  # fmt: skip
    st.subheader(_("Aims"))
    draw_markdown(teacher.aims)
    st.subheader(_("Plan"))
    begins = 0
    for part in teacher.plan:
        ends = begins + part.minutes
        st.markdown(
            _("**Minutes {begins}–{ends}.** {what}", begins=begins, ends=ends, what=translate_markdown(part.what))
        )
        begins = ends
    st.subheader(_("Expected answers"))
    st.caption(_("Computed now, from the models that the lesson reads."))
    for at, step in enumerate(known.lesson.steps):
        if step.question is not None:
            _draw_expected(at, step)
    if teacher.mistakes:
        st.subheader(_("Common mistakes"))
        draw_markdown(teacher.mistakes)


def minutes(count: int) -> str:
    """Format a duration in minutes."""
    return ngettext("{n} minute", "{n} minutes", count, n=count)


def _draw_expected(at: int, step: LessonStep) -> None:
    """Draw a question with its right answer."""
    question = step.question
    if question is None:
        return
    st.markdown(
        _(
            "**Step {at}: {title}.** {ask}",
            at=at + 1,
            title=translate_markdown(step.title),
            ask=translate_markdown(question.ask),
        )
    )
    seen = empty_view(step.view)
    try:
        right = right_answer(question, seen)
        if right is not None and question.kind == "token":
            seen = StepView(seen.asked, seen.asked.view())
        if right is not None:
            parts = format_answer(question, right.answer, seen), told_here(right.said)
            show_notice(" — ".join(part for part in parts if part), role="status")
    except Unanswerable as error:
        show_notice(error.args[0], role="status")
    except UserError as refusal:
        show_notice(refusal.message)
    draw_markdown(question.expected)
    draw_markdown(question.reveal)
