"""A tour for a first visitor: a slim bar above the page that leads from stop to stop.

It is offered once, on a first visit without a link. Who leaves it can go on later: here, or from the page Lessons. Its
stops are the steps of a lesson's file (assets/lessons/tour.toml).
"""

from __future__ import annotations

import streamlit as st

from lessons.library import tour
from lessons.schema import Step
from ui.run.refusals import say
from ui.server.visitor import NAME, is_new
from ui.state import language
from wording import _
from wording import language as spoken

STOP = "tour_stop"  # in the session: the number of the stop, from 0; not there while nobody is on the tour
LEFT = "tour_left"  # where it was left
OFFER = "tour_offer"  # whether it is being offered
FIRST = "explore"  # where it is offered


def bar(page: str) -> None:
    """The tour's bar on a page, by its address; nothing for whoever is not on the tour."""
    if STOP in st.session_state:
        with st.container(key="tour", horizontal=True, vertical_alignment="center"):
            _stop(page, st.session_state[STOP])
    elif _offers(page):
        with st.container(key="tour", horizontal=True, vertical_alignment="center"):
            st.markdown(_("**New here?** Six stops show what this app can do, in five minutes."), width="content")
            if st.button(
                _("Take the tour"), type="tertiary", icon=":material/tour:", help=_("You can leave at any time")
            ):
                go(0)
            st.button(_("No, thanks"), type="tertiary", on_click=_decline, help=_("It stays on the page Lessons"))


def go(stop: int) -> None:
    """To that stop: its page opens with its view. Ends the run of the script."""
    st.session_state[STOP], st.session_state[OFFER] = stop, False
    view = tour().steps[stop].view
    if view is not None:
        st.switch_page(f"../../pages/{view.page}.py", query_params=dict(view.query))


def leave() -> None:
    """Off the tour; where it was left is remembered."""
    st.session_state[LEFT] = st.session_state.pop(STOP, 0)


def left_at() -> int:
    """The stop to go on from."""
    found: int = st.session_state.get(STOP, st.session_state.get(LEFT, 0))
    return found


def _stop(page: str, at: int) -> None:
    """Which stop this is, what is to be seen, and the ways on, back and off."""
    steps = tour().steps
    here = page == _address(steps[at])
    on, back = ("Alt+PageDown", "Alt+PageUp") if page != "lessons" else (None, None)  # a lesson's steps have these keys
    title, text = (said.told(spoken()) for said in (steps[at].title, steps[at].text))
    if here:
        say(_("Stop {at} of {all}: {title} {text}", at=at + 1, all=len(steps), title=title, text=text), role="status")
    else:
        say(_("The tour waits at stop {at} of {all}: {title}", at=at + 1, all=len(steps), title=title), role="status")
        if st.button(_("Go on"), icon=":material/tour:", help=_("Back to this stop of the tour")):
            go(at)
    if here and at > 0 and st.button(_("Back"), shortcut=back, help=_("The stop before")):
        go(at - 1)
    if here and at < len(steps) - 1 and st.button(_("Next"), type="primary", shortcut=on, help=_("The next stop")):
        go(at + 1)
    last = at == len(steps) - 1
    st.button(
        _("End the tour") if last else _("Skip the rest"),
        type="tertiary",
        on_click=leave,
        help=_("You can take it again, or go on with it, from the page Lessons"),
    )


def _address(step: Step) -> str:
    """The address of a stop's page; that of the first page is empty."""
    page = "" if step.view is None else step.view.page
    return "" if page == FIRST else page


def _offers(page: str) -> bool:
    """Whether the tour is offered now: on the first page of a first visit, as long as nothing was chosen by a link."""
    state = st.session_state
    if OFFER not in state:
        came = {name for name in st.query_params if name != language.ADDRESS}
        state[OFFER] = page == "" and not came and is_new(st.context.cookies.get(NAME, ""))
    elif page != "":
        state[OFFER] = False
    return bool(state[OFFER])


def _decline() -> None:
    st.session_state[OFFER] = False
