"""The view Lessons: the list of lessons with the reader's progress, and a lesson step by step."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from i18n import _, translate
from lessons.library import come_along
from lessons.library import tour as its_stops
from lessons.schema import Lesson
from lessons.steps import RESULTS, STRONGEST, markdown_of
from ui.input.controls import draw_back_and_next
from ui.pages.lessons.answers import draw_question
from ui.pages.lessons.class_questions import (
    adopt_class_answers,
    draw_class_answers,
    draw_class_button,
    draw_polled_question,
    is_asked,
    is_polled,
    open_question,
)
from ui.pages.lessons.teaching import draw_editor, draw_teachers_key, minutes
from ui.pages.lessons.views import draw, empty_view, offers_head, withheld_part
from ui.pages.lessons.worksheet import draw_worksheet
from ui.run.current_lesson import (
    OWN,
    TEACHER,
    WRITE,
    LessonsOptions,
    NamedLesson,
    adopt_link_draft,
    draw_markdown,
    get_lesson,
    is_student,
    is_withheld,
    may_see_key,
    open_step,
)
from ui.run.lesson_answers import answer_at, count_answered, place, remember_place
from ui.run.notices import show_notes, show_notice
from ui.show.sections import reading_help
from ui.show.terms import FOR_TEACHERS
from ui.show.tour import BUTTON, go_to_stop, left_at
from ui.show.views import link_to_view
from ui.state.params import get_params, set_params
from ui.state.session import restore_view_state
from viz.components.page_scripts import open_at_top


def listing() -> None:
    """Draw the lessons, the tour and the links for teachers, or a note on where they are."""
    key = may_see_key()
    if not key and not is_student():
        with st.container(horizontal=True, vertical_alignment="center"):
            show_notice(FOR_TEACHERS, role="status")
            link_to_view(
                "classroom", _("Class"), icon=":material/groups:", help=_("Open a class, or join your teacher's.")
            )
    for group, lessons in groupby(come_along().items(), lambda item: markdown_of(item[1].group)):
        if group:
            st.header(group)
        for name, lesson in lessons:
            _draw_lesson(NamedLesson(name, lesson), key)
    _tour()
    if key:
        _draw_write_link()


def _draw_lesson(known: NamedLesson, key: bool) -> None:
    """Draw a lesson with the reader's progress and its buttons; ``key`` adds the teacher's page."""
    name, lesson = known.name, known.lesson
    answered, asked = count_answered(known)
    heading = st.subheader if lesson.group else st.header  # a group has a heading of its own
    heading(markdown_of(lesson.title))
    st.caption(
        " · ".join(
            filter(
                None,
                (
                    minutes(lesson.minutes),
                    markdown_of(lesson.audience),
                    _("Worksheet: {answered} of {asked} answered", answered=answered, asked=asked),
                ),
            )
        )
    )
    draw_markdown(lesson.about)
    with st.container(horizontal=True):
        st.button(_("Go on") if place(name) else _("Begin"), key=f"begin_{name}", on_click=set_params,
                  args=(LessonsOptions,), kwargs={"lesson": name, "step": place(name)}, type="primary")  # fmt: skip
        if lesson.has_key and key:
            # A projector does not show elements whose key begins with "private_" (assets/app.css).
            st.button(_("For the teacher"), key=f"private_teach_{name}", on_click=set_params, args=(LessonsOptions,),
                      kwargs={"lesson": name, "show": TEACHER}, help=_key_contents(lesson))  # fmt: skip


def _key_contents(lesson: Lesson) -> str:
    """Return what the teacher's page of a lesson contains."""
    return _("Expected answers") if lesson.teacher is None else _("Aims, plan, expected answers, common mistakes")


def _draw_write_link() -> None:
    """Draw the button that opens the editor of the reader's own lesson."""
    st.header(_("Your own lesson"))
    st.markdown(
        _("A text file with texts, views and questions.")
    )  # fmt: skip
    st.button(_("Write one"), on_click=set_params, args=(LessonsOptions,), kwargs={"lesson": OWN, "show": WRITE},
              icon=":material/edit:", help=_("Write with a preview, or open a file"))  # fmt: skip


def _tour() -> None:
    """Draw the button that starts or resumes the tour."""
    stops = its_stops()
    st.header(markdown_of(stops.title))
    st.caption(f"{minutes(stops.minutes)} · {markdown_of(stops.audience)}")
    draw_markdown(stops.about)
    at = left_at()
    label = _("Go on") if 0 < at < len(stops.steps) - 1 else translate(BUTTON)
    if st.button(label, icon=":material/tour:", help=_("A bar above the page leads from stop to stop")):
        go_to_stop(at if at < len(stops.steps) - 1 else 0)


def draw_lesson(known: NamedLesson, options: LessonsOptions) -> None:
    """Draw the current step of a lesson, the navigation and the worksheet."""
    steps = known.lesson.steps
    at, step = known.step_at(options.step)
    key = (known.name, at)
    remember_place(known.name, at)
    adopt_class_answers(known)
    if step.view is not None:
        open_step(key, step.view)  # Already open, unless a student's address requests the answer key.
    _draw_navigation(at, len(steps))
    st.subheader(markdown_of(step.title))
    draw_markdown(step.text)
    question = st.container()  # above the view, but filled later, because the answer depends on the view
    polled = step.question is not None and is_polled(key, step.question)
    held = _held_part(known, at, polled)
    seen = empty_view(None) if step.view is None else draw(step.view, held, polled=polled)
    if step.question is not None and polled:
        with question:
            draw_polled_question(step.question)
    elif step.question is not None:
        with question:
            draw_question(key, step.question, seen)
            draw_class_answers(key, step.question)
            draw_class_button(key, step.question, seen)
        if held != _held_part(known, at, polled):
            st.rerun()  # draw the view again with its results
    _draw_end(known, at)
    _draw_footer(known)


def _held_part(known: NamedLesson, at: int, polled: bool) -> str:
    """Return the part of a step's view to hide: VIEW, RESULTS, STRONGEST, or "" for none.

    Results are shown after the first answer or the solution; the strongest head, and results that name the sought
    token, only after a right answer or the solution. The head stays hidden in earlier steps of the same text too.
    ``polled`` is True while the class answers the step's question.
    """
    steps = known.lesson.steps
    held, found, question = withheld_part(steps[at]), answer_at(known.name, at), steps[at].question
    if not held and _shows_polled(known, at):
        return RESULTS
    names_answer = held == STRONGEST or (held == RESULTS and question is not None and question.kind == "token")
    if held and (polled or not (found.is_over if names_answer else found.tries or found.revealed)):
        return held
    if any(
        withheld_part(step) == STRONGEST and not answer_at(known.name, later).is_over and offers_head(steps[at], step)
        for later, step in enumerate(steps[at + 1 :], at + 1)
    ):
        return STRONGEST
    return ""


def _shows_polled(known: NamedLesson, at: int) -> bool:
    """Return True while the class answers another step's question, which this step's results may answer."""
    asked = open_question()
    return asked is not None and any(
        step.question is not None
        and is_asked(asked, (known.name, other), step.question)
        and withheld_part(step)
        and offers_head(known.lesson.steps[at], step)
        for other, step in enumerate(known.lesson.steps)
        if other != at
    )


def _draw_navigation(at: int, count: int) -> None:
    """Draw the navigation: the buttons with their keyboard shortcuts, and the current step."""
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_navigation"):
        st.markdown(_("Step {at} of {all}", at=at + 1, all=count), width="content")
        draw_back_and_next("lesson", at, count, _go)
        st.button(_("All lessons"), on_click=set_params, args=(LessonsOptions,), kwargs={"lesson": "", "step": 0},
                  type="tertiary")  # fmt: skip


def _draw_end(known: NamedLesson, at: int) -> None:
    """Draw the navigation below a step; below the last step, the number of answers and the next lesson."""
    count = len(known.lesson.steps)
    if at + 1 < count:
        with st.container(horizontal=True, vertical_alignment="center"):
            draw_back_and_next("lesson_end", at, count, _go, keys=False)
        return
    answered, asked = count_answered(known)
    sheet = _("Worksheet: {answered} of {asked} answered", answered=answered, asked=asked)
    show_notice(_("This was the last step. {worksheet}.", worksheet=sheet), role="status")
    following = list(come_along().items())
    names = [name for name, _lesson in following]
    if known.name in names[:-1]:
        name, lesson = following[names.index(known.name) + 1]
        st.button(
            _("Next lesson: {title}", title=markdown_of(lesson.title)),
            key="lesson_following",
            on_click=set_params,
            args=(LessonsOptions,),
            kwargs={"lesson": name, "step": place(name)},
            type="primary",
        )


def _go(step: int) -> None:
    set_params(LessonsOptions, step=step)


def _draw_footer(known: NamedLesson) -> None:
    draw_worksheet(known)
    if not may_see_key():
        return
    with st.container(horizontal=True):
        if known.lesson.has_key:
            st.button(_("For the teacher"), key="private_key", on_click=set_params, args=(LessonsOptions,),
                      kwargs={"show": TEACHER}, type="tertiary", help=_key_contents(known.lesson))  # fmt: skip
        if known.name == OWN:
            st.button(_("Go on writing"), on_click=set_params, args=(LessonsOptions,), kwargs={"show": WRITE},
                      type="tertiary", help=_("Write with a preview, or open a file"))  # fmt: skip


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- Steps show a view and ask a question. Answers stay "
                "until the app restarts (own lessons: until you reload): save the worksheet.\n"
                "- Correct answers are computed from the model if possible. Layers and heads count from 0."
            )
        )


def draw_view() -> None:
    """Draw the view Lessons in the page."""
    options = get_params(LessonsOptions)
    adopt_link_draft(options)
    open_at_top(f"{options.lesson}/{options.step}/{options.show}", focuses=bool(options.lesson))
    place = st.empty()
    only_play = is_withheld(options)
    if options.lesson == OWN and options.show == WRITE and not only_play:
        place.header(_("Your own lesson"))
        show_notes()
        draw_editor()
    else:
        chosen = get_lesson(options)
        if chosen is not None:
            place.header(markdown_of(chosen.lesson.title))
        show_notes()
        if chosen is None:
            restore_view_state()
            listing()
        elif options.show == TEACHER and not only_play and chosen.lesson.has_key:
            draw_teachers_key(chosen)
        else:
            draw_lesson(chosen, options)
    how_to_read()
