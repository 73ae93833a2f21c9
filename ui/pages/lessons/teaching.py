"""The teacher's page of a lesson: aims, plan, what is right as the models say now, and common mistakes."""

from __future__ import annotations

import streamlit as st

from inference import Refusal
from lessons.schema import Step, Teacher
from lessons.truth import Unanswerable
from ui.pages.lessons.known import Known
from ui.pages.lessons.markdown import show, told
from ui.pages.lessons.options import PLAY, Lessons
from ui.pages.lessons.questions import in_words, right_answer
from ui.pages.lessons.views import Seen, unseen
from ui.run.refusals import say
from ui.state.options import choose_own
from wording import _, ngettext
from wording import told as told_here


def teach(known: Known, teacher: Teacher) -> None:
    """All of it on one page, to be printed too."""
    st.button(_("To the lesson"), on_click=choose_own, args=(Lessons,), kwargs={"show": PLAY},
              icon=":material/arrow_back:", help=_("As students see it"))  # fmt: skip
    st.subheader(_("Aims"))
    show(teacher.aims)
    st.subheader(_("Plan"))
    begins = 0
    for part in teacher.plan:
        ends = begins + part.minutes
        st.markdown(_("**Minutes {begins}–{ends}.** {what}", begins=begins, ends=ends, what=told(part.what)))
        begins = ends
    st.subheader(_("Expected answers"))
    st.caption(_("Computed now, from the models that the lesson reads."))
    for at, step in enumerate(known.lesson.steps):
        if step.question is not None:
            _expected(at, step)
    if teacher.mistakes:
        st.subheader(_("Common mistakes"))
        show(teacher.mistakes)


def minutes(count: int) -> str:
    """How long it takes."""
    return ngettext("{n} minute", "{n} minutes", count, n=count)


def _expected(at: int, step: Step) -> None:
    """One question with what is right."""
    question = step.question
    if question is None:
        return
    st.markdown(_("**Step {at}: {title}.** {ask}", at=at + 1, title=told(step.title), ask=told(question.ask)))
    seen = unseen(step.view)
    try:
        right = right_answer(question, seen)
        if right is not None and question.kind == "token":
            seen = Seen(seen.asked, seen.asked.view())
        if right is not None:
            say(f"{in_words(question, right.answer, seen)} · {told_here(right.said)}".rstrip(" ·"), role="status")
    except Unanswerable as error:
        say(error.args[0], role="status")
    except Refusal as refusal:
        say(refusal.message)
    show(question.expected)
    show(question.reveal)
