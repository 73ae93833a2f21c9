"""A lesson, step by step."""

from __future__ import annotations

import streamlit as st

from ui.pages.lessons.answers import came_to, done, forget, given, worksheet
from ui.pages.lessons.attending import may_see_key
from ui.pages.lessons.known import Known
from ui.pages.lessons.markdown import show, told
from ui.pages.lessons.options import OWN, TEACHER, WRITE, Lessons
from ui.pages.lessons.questions import ask
from ui.pages.lessons.to_class import to_class
from ui.pages.lessons.views import draw, open_step, unseen, withheld_part
from ui.state.options import choose_own
from wording import _


def play(known: Known, options: Lessons) -> None:
    """One step of it, the way to the others, and the worksheet below."""
    steps = known.lesson.steps
    at = min(options.step, len(steps) - 1)
    step, key = steps[at], (known.name, at)
    came_to(known.name, at)
    if step.view is not None:
        open_step(key, step.view)
    _ways(at, len(steps))
    st.subheader(told(step.title))
    show(step.text)
    question = st.container()  # stands above the view, and is answered with what the view shows
    held = "" if given(*key).tries else withheld_part(step)
    seen = unseen(None) if step.view is None else draw(step.view, held)
    if step.question is not None:
        with question:
            ask(key, step.question, seen)
            to_class(step.question, seen)
        if held and given(*key).tries:
            st.rerun()  # the results may be seen now
    _below(known)


def _ways(at: int, count: int) -> None:
    """Back and on, by button and by key, and where one is."""
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
        st.button(_("All lessons"), on_click=choose_own, args=(Lessons,), kwargs={"lesson": "", "step": 0},
                  type="tertiary", help=_("Your answers stay while this window is open"))  # fmt: skip


def _go(step: int) -> None:
    choose_own(Lessons, step=step)


def _below(known: Known) -> None:
    answered, asked = done(known)
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
            st.button(_("For the teacher"), on_click=choose_own, args=(Lessons,), kwargs={"show": TEACHER},
                      type="tertiary", help=_("Aims, plan, expected answers and common mistakes"))  # fmt: skip
        if known.name == OWN:
            st.button(_("Go on writing"), on_click=choose_own, args=(Lessons,), kwargs={"show": WRITE},
                      type="tertiary", help=_("The file of this lesson beside its preview"))  # fmt: skip
