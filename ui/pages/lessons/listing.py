"""The list of all lessons, with the reader's progress."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from i18n import _
from lessons.library import come_along
from lessons.library import tour as its_stops
from lessons.steps import markdown_of
from ui.pages.lessons.answers import count_answered, place
from ui.pages.lessons.current_lesson import NamedLesson, may_see_key
from ui.pages.lessons.markdown import draw_markdown
from ui.pages.lessons.options import OWN, TEACHER, WRITE, LessonsOptions
from ui.pages.lessons.teaching import minutes
from ui.show.tour import go_to_stop, left_at
from ui.state.params import set_params


def listing() -> None:
    """Draw the lessons, the tour and, for visitors who may see the key, the links for teachers."""
    key = may_see_key()
    groups = groupby(come_along().items(), lambda item: markdown_of(item[1].group) or _("Lessons"))
    for group, lessons in groups:
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
    st.subheader(markdown_of(lesson.title))
    st.caption(
        _("{minutes} · {audience} · {answered} of {asked} questions answered", minutes=minutes(lesson.minutes),
          audience=markdown_of(lesson.audience), answered=answered, asked=asked)
    )  # fmt: skip
    draw_markdown(lesson.about)
    with st.container(horizontal=True):
        st.button(_("Go on") if place(name) else _("Begin"), key=f"begin_{name}", on_click=set_params,
                  args=(LessonsOptions,), kwargs={"lesson": name, "step": place(name)}, type="primary",
                  help=_("Step by step, at your own pace"))  # fmt: skip
        if lesson.teacher is not None and key:
            st.button(_("For the teacher"), key=f"teach_{name}", on_click=set_params, args=(LessonsOptions,),
                      kwargs={"lesson": name, "show": TEACHER},
                      help=_("Aims, plan, expected answers and common mistakes"))  # fmt: skip


def _draw_write_link() -> None:
    """Draw the button that opens the editor of the reader's own lesson."""
    st.header(_("A lesson of your own"))
    st.markdown(
        _("A lesson is a text file with texts, views and questions. Answers are computed from the model.")
    )  # fmt: skip
    st.button(_("Write one"), on_click=set_params, args=(LessonsOptions,), kwargs={"lesson": OWN, "show": WRITE},
              icon=":material/edit:", help=_("Beside a preview; or bring a file"))  # fmt: skip


def _tour() -> None:
    """Draw the button that starts or resumes the tour."""
    stops = its_stops()
    st.header(markdown_of(stops.title))
    st.caption(_("{minutes} · {audience}", minutes=minutes(stops.minutes), audience=markdown_of(stops.audience)))
    draw_markdown(stops.about)
    at = left_at()
    label = _("Go on at stop {at}", at=at + 1) if 0 < at < len(stops.steps) - 1 else _("Take the tour")
    if st.button(label, icon=":material/tour:", help=_("A bar above the page leads from stop to stop")):
        go_to_stop(at if at < len(stops.steps) - 1 else 0)
