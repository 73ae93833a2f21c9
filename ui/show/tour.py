"""A tour for a first visitor: a slim bar above the page that leads from stop to stop.

It is offered once, on a first visit without a link. Who leaves it can go on later: here, or from the page Lessons. Its
stops are the steps of a lesson's file (assets/lessons/tour.toml). The reader's own model and text are kept while a stop
shows others, and restored on every other page, at the last stop, at the tour's end, and after a reload.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import streamlit as st

from i18n import _
from i18n import active_language as spoken
from lessons.library import tour
from lessons.schema import LessonStep
from ui.run.notices import show_notice
from ui.server.visitor import NAME, VALUE, is_new
from ui.state import language
from ui.state.session import get_view_state, is_followed, is_temporary, restore_view_state, set_view_state
from ui.state.view_state import ViewState, parse

STOP = "tour_stop"  # in the session: the number of the stop, from 0; not there while nobody is on the tour
LEFT = "tour_left"  # where it was left
OFFER = "tour_offer"  # whether it is being offered
FIRST = "explore"  # where it is offered
OWN = "tour_own"  # in the session: the reader's choice, while a stop shows the tour's
BEFORE = "tour_before"  # in the session: the reader's choice as of the last run that showed it
MOST_KEPT, LONGEST_KEPT = 1_000, 24_000  # visitors whose choice outlives a reload; characters of its texts

_KEPT: OrderedDict[str, tuple[int, ViewState]] = OrderedDict()  # by cookie: the stop and the reader's choice
_LOCK = threading.Lock()


def keep_own_choice(page: str) -> None:
    """Restore the reader's choice on a page that no stop of the tour shows; resume a tour that a reload interrupted.

    The browser's back button leads to the stop before. Call it before the page draws anything of the choice.
    """
    _resume(page)
    _rejoin(page)
    state = st.session_state
    if OWN in state and (STOP not in state or page != _address(tour().steps[state[STOP]]) or not _query(state[STOP])):
        _restore()
    if OWN not in state and not is_temporary():
        state[BEFORE] = get_view_state()


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
                go_to_stop(0)
            st.button(_("No, thanks"), type="tertiary", on_click=_decline, help=_("It stays on the page Lessons"))


def go_to_stop(stop: int) -> None:
    """To that stop: its page opens with its view. Ends the run of the script."""
    state = st.session_state
    restore_view_state()
    state[OWN] = _own_choice()
    state[STOP], state[OFFER] = stop, False
    if _query(stop):
        _remember_choice(stop, state[OWN])
    else:
        _restore()
    view = tour().steps[stop].view
    if view is not None:
        st.switch_page(f"../../pages/{view.page}.py", query_params=dict(view.query))


def leave() -> None:
    """Off the tour, with the reader's own model and text; where it was left is remembered."""
    st.session_state[LEFT] = st.session_state.pop(STOP, 0)
    _restore()


def left_at() -> int:
    """The stop to go on from."""
    found: int = st.session_state.get(STOP, st.session_state.get(LEFT, 0))
    return found


def _stop(page: str, at: int) -> None:
    """Which stop this is, what is to be seen, and the ways on, back and off."""
    steps = tour().steps
    here = page == _address(steps[at])
    on, back = ("Alt+PageDown", "Alt+PageUp") if page != "lessons" else (None, None)  # a lesson's steps have these keys
    title, text = (said.in_language(spoken()) for said in (steps[at].title, steps[at].text))
    if here:
        show_notice(
            _("Stop {at} of {all}: {title} {text}", at=at + 1, all=len(steps), title=title, text=text), role="status"
        )
    else:
        show_notice(
            _("The tour waits at stop {at} of {all}: {title}", at=at + 1, all=len(steps), title=title), role="status"
        )
        if st.button(_("Go on"), icon=":material/tour:", help=_("Back to this stop of the tour")):
            go_to_stop(at)
    if here and at > 0 and st.button(_("Back"), shortcut=back, help=_("The stop before")):
        go_to_stop(at - 1)
    if here and at < len(steps) - 1 and st.button(_("Next"), type="primary", shortcut=on, help=_("The next stop")):
        go_to_stop(at + 1)
    last = at == len(steps) - 1
    st.button(
        _("End the tour") if last else _("Skip the rest"),
        type="tertiary",
        on_click=leave,
        help=_("You can take it again, or go on with it, from the page Lessons"),
    )


def _address(step: LessonStep) -> str:
    """The address of a stop's page; that of the first page is empty."""
    page = "" if step.view is None else step.view.page
    return "" if page == FIRST else page


def _offers(page: str) -> bool:
    """Whether the tour is offered now: on the first page of a first visit, as long as nothing was chosen by a link."""
    state = st.session_state
    if OFFER not in state:
        came = {name for name in st.query_params if name != language.ADDRESS}
        state[OFFER] = page == "" and not came and is_new(_cookie())
    elif page != "":
        state[OFFER] = False
    return bool(state[OFFER])


def _decline() -> None:
    st.session_state[OFFER] = False


def _own_choice() -> ViewState:
    """Return the reader's choice: the kept one, or the current one if it reads a text that is not the tour's."""
    now = get_view_state()
    kept: ViewState = st.session_state.get(OWN, now)
    return kept if any(_reads_same(now, stop) for stop in range(len(tour().steps)) if _query(stop)) else now


def _restore() -> None:
    """Choose the reader's choice again and forget that it was kept."""
    if OWN not in st.session_state:
        return
    own = _own_choice()
    del st.session_state[OWN]
    with _LOCK:
        _KEPT.pop(_cookie(), None)
    if own != get_view_state():
        set_view_state(**vars(own))


def _resume(page: str) -> None:
    """Continue the tour in a new session if its address is that of the stop that this visitor saw last."""
    state = st.session_state
    if STOP in state or OFFER in state:
        return
    with _LOCK:
        stop, own = _KEPT.get(_cookie(), (-1, get_view_state()))
    if stop >= 0 and page == _address(tour().steps[stop]) and _reads_same(get_view_state(), stop):
        state[STOP], state[OWN], state[OFFER] = stop, own, False


def _rejoin(page: str) -> None:
    """Continue at the stop whose address was followed, as by the browser's back button."""
    state = st.session_state
    if STOP not in state or not is_followed():
        return
    now = get_view_state()
    found = (
        stop
        for stop, step in enumerate(tour().steps)
        if page == _address(step) and (not _query(stop) or _reads_same(now, stop))
    )
    state[STOP] = next(found, state[STOP])
    if _query(state[STOP]):
        state.setdefault(OWN, state.get(BEFORE, now))


def _remember_choice(stop: int, own: ViewState) -> None:
    """Keep the choice for a reload, by the visitor's cookie; the visitors of longest ago are forgotten."""
    cookie = _cookie()
    if VALUE.fullmatch(cookie) is None or len(own.text) + len(own.pair) + len(own.target) > LONGEST_KEPT:
        return
    with _LOCK:
        _KEPT[cookie] = stop, own
        _KEPT.move_to_end(cookie)
        while len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)


def _cookie() -> str:
    return str(st.context.cookies.get(NAME, ""))


def _query(stop: int) -> dict[str, Any]:
    """Return the address of a stop's view; empty if the stop shows the reader's own choice."""
    view = tour().steps[stop].view
    return {} if view is None else dict(view.query)


def _reads_same(choice: ViewState, stop: int) -> bool:
    """Return whether a choice reads the texts of a stop's view."""
    shown = parse(_query(stop))[0]
    return (choice.text, choice.pair) == (shown.text, shown.pair)
