"""The current lesson: its options and Markdown, the reader's own draft, and access to the answer key."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from i18n import _
from lessons.library import come_along, is_bundled, pack_lesson, template, unpack_lesson
from lessons.reading import Fault, Unreadable, lesson_of
from lessons.schema import Lesson, LocalizedText
from lessons.steps import markdown_of
from ui.run.classes import attends_any, store, visitor_secret
from ui.run.network import is_open
from ui.run.notices import show_notice
from ui.state import classroom
from ui.state.params import set_params
from ui.state.visitor_values import VisitorValues
from viz.options import option

OWN = "own"  # name of the reader's own lesson
PLAY, TEACHER, WRITE = "play", "teacher", "write"


@dataclass(frozen=True)
class LessonsOptions:
    """Options of the page Lessons."""

    lesson: str = ""  # "" is the list of all lessons
    step: int = 0
    show: str = option(PLAY, choices=(PLAY, TEACHER, WRITE))
    carried: str = ""  # a lesson in the link, packed by lessons/library.py


def draw_markdown(said: LocalizedText) -> None:
    """Draw a text as Markdown unless it is empty; HTML in it is shown as text."""
    if said:
        st.markdown(markdown_of(said))


DRAFT = "lesson_draft"  # session key: text of the reader's own lesson
REPLACED = "lesson_replaced"  # session key: text of the reader's own that another lesson replaced last
MOST_KEPT = 100  # visitors whose lesson a reload keeps
_KEPT: VisitorValues[tuple[str, str]] = VisitorValues(MOST_KEPT)  # the draft, and the text that it replaced
TAKEN = "lesson_taken"  # session key: packed lesson of the last adopted link
PLAYED = "lesson_played"  # session key: packed versions of the draft that the reader has played


@dataclass(frozen=True)
class NamedLesson:
    """A lesson with the name that links and answers use."""

    name: str
    lesson: Lesson


def draft() -> str:
    """Return the text of the reader's own lesson: from this session, from before a reload, or a short template."""
    if DRAFT not in st.session_state:
        st.session_state[DRAFT], st.session_state[REPLACED] = _KEPT.get() or (template(), "")
    text: str = st.session_state[DRAFT]
    return text


def store_draft(text: str) -> None:
    """Store the text of the reader's own lesson, for a reload too, and drop a lesson in the address."""
    st.session_state[DRAFT] = text
    _KEPT.put((text, st.session_state.get(REPLACED, "")))
    set_params(LessonsOptions, carried="")


def replace_draft(text: str) -> None:
    """Store another lesson as the draft, and keep the reader's own text for `restore_draft`."""
    _keep_replaced(text)
    store_draft(text)


def is_replaced() -> bool:
    """Return True if `restore_draft` has a text of the reader's own to bring back."""
    draft()
    return bool(st.session_state.get(REPLACED))


def restore_draft() -> None:
    """Swap the draft with the text that was replaced last; a second call undoes the first."""
    replace_draft(st.session_state.pop(REPLACED))


def _keep_replaced(text: str) -> None:
    """Keep the draft that ``text`` will replace, unless it is empty or the unchanged file of a lesson."""
    before = draft()
    if before.strip() and before != text and not is_bundled(before):
        st.session_state[REPLACED] = before


def adopt_link_draft(options: LessonsOptions) -> None:
    """Store the lesson that a link contains as the reader's own draft, only once for each link."""
    before, own = st.session_state.get(TAKEN, ""), st.session_state.get(PLAYED, ())
    if options.carried and options.carried not in (before, *own):
        st.session_state[TAKEN] = options.carried
        text = unpack_lesson(options.carried)
        if text is None:
            show_notice(_("The lesson in this link is damaged; ask for it again."))
            return
        # A class gets a link for each change of its teacher's lesson; the reader's own text stays.
        if not (is_replaced() and draft() == unpack_lesson(before)):
            _keep_replaced(text)
        st.session_state[DRAFT] = text


def parse_lesson(text: str) -> Lesson | list[Fault]:
    """Return the lesson in a text, or a list of its faults."""
    try:
        return lesson_of(text)
    except Unreadable as error:
        return error.faults


def play_draft() -> None:
    """Play the reader's own lesson; the address contains it, so that followers in a class get it too."""
    packed = pack_lesson(draft()) or ""
    st.session_state[PLAYED] = {*st.session_state.get(PLAYED, ()), packed}
    set_params(LessonsOptions, lesson=OWN, step=0, show=PLAY, carried=packed)


def get_lesson(options: LessonsOptions) -> NamedLesson | None:
    """Return the chosen lesson; show a notice and return None if it is unknown or the reader's own has faults.

    The reader's own lesson is that of the address, which may be an earlier version, or else the draft.
    """
    if options.lesson == OWN:
        found = parse_lesson(unpack_lesson(options.carried) or draft())
        if isinstance(found, Lesson):
            return NamedLesson(OWN, found)
        show_notice(_("Your own lesson has faults, listed under “Write one”."))
    elif options.lesson in come_along():
        return NamedLesson(options.lesson, come_along()[options.lesson])
    elif options.lesson:
        show_notice(_("There is no lesson “{name}”. Pick one below.", name=options.lesson[:40]))
    return None


def is_teacher() -> bool:
    """Return True if this session teaches the class of students that it is in."""
    code = classroom.code()
    return code is not None and store().teaches(code, visitor_secret())


def is_student() -> bool:
    """Return True if this visitor attends a class as a student, in this session or in another."""
    return not is_teacher() and (classroom.code() is not None or attends_any())


def may_see_key() -> bool:
    """Return True if this visitor may see a lesson's expected answers (the answer key).

    On a private machine, everybody except students may see it. If others can reach the app, only teachers of a class
    may.
    """
    return is_teacher() or not (is_student() or is_open())


def is_withheld(options: LessonsOptions) -> bool:
    """Return True if the address requests the answer key without permission, and show a notice."""
    if options.show == PLAY or may_see_key():
        return False
    show_notice(_("Only a class's teacher sees this."), role="status")
    return True
