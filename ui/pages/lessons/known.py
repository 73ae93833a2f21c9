"""Which lesson is meant: one that comes along, or the reader's own, which stays in the session."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from lessons.library import come_along, source
from lessons.reading import Fault, Unreadable, lesson_of
from lessons.schema import Lesson
from lessons.sharing import unpacked
from ui.pages.lessons.options import OWN, Lessons
from ui.run.refusals import say
from ui.state.options import choose_own
from wording import _

DRAFT = "lesson_draft"  # the text of one's own lesson
TAKEN = "lesson_taken"  # the link that it came with


@dataclass(frozen=True)
class Known:
    """A lesson, and the name by which links and answers know it."""

    name: str
    lesson: Lesson


def draft() -> str:
    """The text of the reader's own lesson; at first that of the shortest one that comes along."""
    text: str = st.session_state.setdefault(DRAFT, source("it_and_animal"))
    return text


def keep(text: str) -> None:
    """It is this from now on, and no longer what came with a link."""
    st.session_state[DRAFT] = text
    choose_own(Lessons, carried="")


def take(options: Lessons) -> None:
    """A lesson that came with the link becomes the reader's own, once."""
    if options.carried and st.session_state.get(TAKEN) != options.carried:
        st.session_state[TAKEN] = options.carried
        text = unpacked(options.carried)
        if text is None:
            say(_("The lesson in this link is damaged; ask for the link again."))
        else:
            st.session_state[DRAFT] = text


def read(text: str) -> Lesson | list[Fault]:
    """The lesson in a text, or what is wrong with it."""
    try:
        return lesson_of(text)
    except Unreadable as error:
        return error.faults


def known(options: Lessons) -> Known | None:
    """The lesson that is chosen; None where there is none, which is said where a name was given."""
    if options.lesson == OWN:
        found = read(draft())
        if isinstance(found, Lesson):
            return Known(OWN, found)
        say(_("Your own lesson has faults; they are listed under “Write one”."))
    elif options.lesson in come_along():
        return Known(options.lesson, come_along()[options.lesson])
    elif options.lesson:
        say(_("There is no lesson “{name}” here; these there are.", name=options.lesson[:40]))
    return None
