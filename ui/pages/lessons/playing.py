"""A lesson, step by step."""

from __future__ import annotations

import streamlit as st

from i18n import _
from ui.pages.lessons.answers import answer_at, count_answered, forget, remember_place, worksheet
from ui.pages.lessons.current_lesson import NamedLesson, may_see_key
from ui.pages.lessons.markdown import draw_markdown, translate_markdown
from ui.pages.lessons.options import OWN, TEACHER, WRITE, LessonsOptions
from ui.pages.lessons.questions import draw_question
from ui.pages.lessons.to_class import draw_class_button
from ui.pages.lessons.views import draw, empty_view, open_step, withheld_part
from ui.state.params import set_params


def draw_lesson(known: NamedLesson, options: LessonsOptions) -> None:
    """Draw the current step of a lesson, the navigation and the worksheet."""
    steps = known.lesson.steps
    at = min(options.step, len(steps) - 1)
    step, key = steps[at], (known.name, at)
    remember_place(known.name, at)
    if step.view is not None:
        open_step(key, step.view)
    _draw_navigation(at, len(steps))
    st.subheader(translate_markdown(step.title))
    draw_markdown(step.text)
    question = st.container()  # above the view, but filled later, because the answer depends on the view
    held = "" if answer_at(*key).tries else withheld_part(step)
    seen = empty_view(None) if step.view is None else draw(step.view, held)
    if step.question is not None:
        with question:
            draw_question(key, step.question, seen)
            draw_class_button(step.question, seen)
        if held and answer_at(*key).tries:
            st.rerun()  # draw the view again with its results
    _draw_footer(known)


def _draw_navigation(at: int, count: int) -> None:
    """Draw the navigation: the buttons with their keyboard shortcuts, and the current step."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            _("Back"),
            on_click=_go,
            args=(at - 1,),
            disabled=at == 0,
            shortcut="Alt+PageUp",
            icon=":material/arrow_back:",
            help=_("The step before"),
        )
        st.markdown(_("Step {at} of {all}", at=at + 1, all=count), width="content")
        st.button(
            _("Next"),
            on_click=_go,
            args=(at + 1,),
            disabled=at == count - 1,
            shortcut="Alt+PageDown",
            icon=":material/arrow_forward:",
            help=_("The next step; a question may stay open"),
        )
        st.button(_("All lessons"), on_click=set_params, args=(LessonsOptions,), kwargs={"lesson": "", "step": 0},
                  type="tertiary", help=_("Your answers stay until the app restarts"))  # fmt: skip


def _go(step: int) -> None:
    set_params(LessonsOptions, step=step)


def _draw_footer(known: NamedLesson) -> None:
    answered, asked = count_answered(known)
    with st.expander(_("Worksheet: {answered} of {asked} questions", answered=answered, asked=asked)):
        worksheet(known)
        st.button(
            _("Forget my answers"),
            on_click=forget,
            args=(known.name,),
            help=_("All answers of this lesson are forgotten, and it begins anew"),
        )
    if not may_see_key():
        return
    with st.container(horizontal=True):
        if known.lesson.teacher is not None:
            st.button(_("For the teacher"), on_click=set_params, args=(LessonsOptions,), kwargs={"show": TEACHER},
                      type="tertiary", help=_("Aims, plan, expected answers and common mistakes"))  # fmt: skip
        if known.name == OWN:
            st.button(_("Go on writing"), on_click=set_params, args=(LessonsOptions,), kwargs={"show": WRITE},
                      type="tertiary", help=_("The file of this lesson beside its preview"))  # fmt: skip
