"""Which lesson is meant: one that comes along, or the reader's own, which stays in the session."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from i18n import _
from lessons.library import come_along, source
from lessons.reading import Fault, Unreadable, lesson_of
from lessons.schema import Lesson
from lessons.sharing import unpack_lesson
from ui.pages.lessons.options import OWN, LessonsOptions
from ui.run.notices import show_notice
from ui.state.params import set_params

DRAFT = "lesson_draft"  # the text of one's own lesson
TAKEN = "lesson_taken"  # the link that it came with


@dataclass(frozen=True)
class NamedLesson:
    """A lesson, and the name by which links and answers know it."""

    name: str
    lesson: Lesson


def draft() -> str:
    """The text of the reader's own lesson; at first that of the shortest one that comes along."""
    text: str = st.session_state.setdefault(DRAFT, source("it_and_animal"))
    return text


def store_draft(text: str) -> None:
    """It is this from now on, and no longer what came with a link."""
    st.session_state[DRAFT] = text
    set_params(LessonsOptions, carried="")


def adopt_link_draft(options: LessonsOptions) -> None:
    """A lesson that came with the link becomes the reader's own, once."""
    if options.carried and st.session_state.get(TAKEN) != options.carried:
        st.session_state[TAKEN] = options.carried
        text = unpack_lesson(options.carried)
        if text is None:
            show_notice(_("The lesson in this link is damaged; ask for the link again."))
        else:
            st.session_state[DRAFT] = text


def parse_lesson(text: str) -> Lesson | list[Fault]:
    """The lesson in a text, or what is wrong with it."""
    try:
        return lesson_of(text)
    except Unreadable as error:
        return error.faults


def get_lesson(options: LessonsOptions) -> NamedLesson | None:
    """The lesson that is chosen; None where there is none, which is said where a name was given."""
    if options.lesson == OWN:
        found = parse_lesson(draft())
        if isinstance(found, Lesson):
            return NamedLesson(OWN, found)
        show_notice(_("Your own lesson has faults; they are listed under “Write one”."))
    elif options.lesson in come_along():
        return NamedLesson(options.lesson, come_along()[options.lesson])
    elif options.lesson:
        show_notice(_("There is no lesson “{name}” here; these there are.", name=options.lesson[:40]))
    return None
