"""The current lesson: its options and Markdown, its open step, the reader's own draft, and access to the answer key."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from i18n import _
from lessons.library import come_along, is_bundled, pack_lesson, template, unpack_lesson
from lessons.reading import Fault, Unreadable, lesson_of
from lessons.schema import Lesson, LessonStep, LocalizedText
from lessons.schema import LessonView as Pointed
from lessons.steps import markdown_of
from ui.run.classes import attends_any, store, visitor_secret
from ui.run.network import is_open
from ui.run.notices import show_notice
from ui.state import classroom
from ui.state.params import parse_params, set_params
from ui.state.session import (
    get_view_state,
    is_followed,
    is_temporary,
    is_text_followed,
    own_query,
    restore_view_state,
    show_temporarily,
)
from ui.state.view_state import ViewState, parse
from ui.state.visitor_values import VisitorValues
from viz.options import option

OWN = "own"  # name of the reader's own lesson
PLAY, TEACHER, WRITE = "play", "teacher", "write"
AT = "lesson_view"  # session key: ((lesson, step), view) that was opened last


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

    def step_at(self, wanted: int) -> tuple[int, LessonStep]:
        """Return the index and the step ``wanted``, or those of the last step if the lesson has fewer."""
        at = min(wanted, len(self.lesson.steps) - 1)
        return at, self.lesson.steps[at]


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
    """Play the reader's own lesson from its first step."""
    _play(pack_lesson(draft()) or "", step=0)


def _play(packed: str, step: int) -> None:
    """Play the packed draft at a step; the address contains it, so that followers in a class get it too."""
    st.session_state[PLAYED] = {*st.session_state.get(PLAYED, ()), packed}
    set_params(LessonsOptions, lesson=OWN, step=step, show=PLAY, carried=packed)


def find_lesson(options: LessonsOptions) -> NamedLesson | None:
    """Return the chosen lesson, or None if it is unknown or the reader's own has faults.

    The reader's own lesson is that of the address, which may be an earlier version, or else the draft.
    """
    if options.lesson != OWN:
        found: Lesson | list[Fault] | None = come_along().get(options.lesson)
    else:
        found = parse_lesson(unpack_lesson(options.carried) or draft())
    return NamedLesson(options.lesson, found) if isinstance(found, Lesson) else None


def get_lesson(options: LessonsOptions) -> NamedLesson | None:
    """Return the chosen lesson; show a notice and return None if it is unknown or the reader's own has faults."""
    found = find_lesson(options)
    if found is None and options.lesson == OWN:
        show_notice(_("Your own lesson has faults, listed under “Write one”."))
    elif found is None and options.lesson:
        show_notice(_("There is no lesson “{name}”. Pick one below.", name=options.lesson[:40]))
    return found


def choice_of(pointed: Pointed) -> ViewState:
    """Return the view state that a view's link describes; the default model is the app's."""
    return parse(dict(pointed.query))[0]


def model_and_texts(choice: ViewState) -> tuple[str, ...]:
    """Return the texts of a view state and the model that reads them."""
    return choice.text, choice.pair, choice.target, choice.model


def open_lesson() -> None:
    """Show the view state of the step in the address, or restore the reader's own on the list of lessons.

    Call this function before the page presents its address to a class, so that followers get the step's text and head.
    """
    options = parse_params(LessonsOptions, own_query())[0]
    if options.show != PLAY:
        return
    known = find_lesson(options)
    if known is None:
        restore_view_state()
        return
    if known.name == OWN and not options.carried and is_teacher() and (packed := pack_lesson(draft())):
        _play(packed, options.step)
    at, step = known.step_at(options.step)
    if step.view is not None:
        open_step((known.name, at), step.view)


def open_step(key: tuple[str, int], pointed: Pointed) -> None:
    """Show the view state of a step if the reader enters it, or has changed the text on another page.

    ``key`` is (lesson, step). If the reader followed a link into the step, the head and words of the link remain. The
    reader's own view state returns after the lesson.
    """
    wanted, now = choice_of(pointed), get_view_state()
    entered = st.session_state.get(AT) != (key, pointed) or not is_temporary()
    same = pointed.yours or model_and_texts(now) == model_and_texts(wanted)
    arrived = entered and is_followed() and same and (is_text_followed() or now != ViewState())
    if (entered and not arrived) or (not pointed.yours and model_and_texts(now) != model_and_texts(wanted)):
        show_temporarily(wanted)
    elif arrived:
        show_temporarily(now)
    st.session_state[AT] = (key, pointed)


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
