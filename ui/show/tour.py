"""The tour for first-time visitors: a bar above the page that leads from stop to stop.

A button above every page starts the tour. A visitor who leaves the tour can resume it on the page Lessons. Its stops
are the steps of a lesson (assets/lessons/tour.toml), each with its own model and text. The visitor's own model and text
are saved meanwhile. They are restored on views outside the tour, at the last stop, and at the end of the tour. A reload
keeps them.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from i18n import _, gettext_lazy, translate
from i18n import active_language as spoken
from lessons.library import come_along, tour
from lessons.schema import LessonStep
from ui.run.notices import show_notice
from ui.show.views import go_to_view
from ui.state.navigation import view_named
from ui.state.session import VIEW, get_view_state, is_followed, is_temporary, restore_view_state, set_view_state
from ui.state.view_state import ViewState, parse
from ui.state.visitor_values import VisitorValues

STOP = "tour_stop"  # Session key of the stop's index; missing outside the tour.
LEFT = "tour_left"  # Session key of the stop at which the visitor left.
RESUMED = "tour_resumed"  # Session key of a flag: the search for a tour that a reload interrupted is done.
FIRST = "explore"  # View of a stop without a view of its own.
OWN = "tour_own"  # Session key of the visitor's choice while a stop shows the tour's.
START = "tour_start"  # Session key of the stop at which the visitor entered, and the view and choice before it.
BEFORE = "tour_before"  # Session key of the visitor's choice in the last run that showed it.
MOST_KEPT, LONGEST_KEPT = 1_000, 24_000  # Maximum number of saved choices, and of characters in each.

# CSS selectors of the elements that the stops are about, by view, and the style of their outline. The microscope
# outlines its grid of heads by the variable (viz/components/explore/explore.css).
POINTED = {
    "explore": ".st-key-explore",
    "compare": ".st-key-compare_grid",
    "step_by_step": ".st-key-steps_incoming",
    "masked_words": ".st-key-masked_bars",
    "translate": ".st-key-translate_matrix",
    "lessons": ".st-key-begin_it_and_animal",
}
BUTTON = gettext_lazy("5-minute tour")
BEGIN = "begin_tour"  # Key of the button in the top bar.
OUTLINE = "--headlight-tour: 3px solid #a63d00; outline: 3px solid #a63d00; outline-offset: 4px; border-radius: 6px;"

_KEPT: VisitorValues[tuple[int, ViewState]] = VisitorValues(MOST_KEPT)  # (stop, visitor's choice)


def keep_own_choice(view: str) -> None:
    """Restore the visitor's own text and model on views outside the tour, and resume a tour after a reload.

    The browser's back button leads to the previous stop, and from the first stop out of the tour. Call this function
    before the page draws anything that depends on the view state.
    """
    _resume(view)
    _rejoin(view)
    state = st.session_state
    if OWN in state and (STOP not in state or view != _view_of(tour().steps[state[STOP]]) or not _query(state[STOP])):
        _restore()
    if OWN not in state and not is_temporary():
        state[BEFORE] = get_view_state()


def draw_button() -> None:
    """Draw the button that starts the tour, unless the visitor is on it."""
    help = _("Six stops; you can leave at any time.")
    if STOP not in st.session_state and st.button(
        translate(BUTTON), key=BEGIN, type="tertiary", icon=":material/tour:", help=help
    ):
        go_to_stop(0)


def bar(view: str) -> None:
    """Draw the tour's bar above a view, and outline the element that the current stop explains."""
    if STOP not in st.session_state:
        return
    at = st.session_state[STOP]
    with st.container(key="tour", horizontal=True, vertical_alignment="center"):
        _stop(view, at)
    if view == _view_of(tour().steps[at]) and view in POINTED:
        st.html(f"<style>{POINTED[view]} {{ {OUTLINE} }}</style>")


def go_to_stop(stop: int) -> None:
    """Open the view of a stop of the tour; this ends the script run."""
    state = st.session_state
    restore_view_state()
    state[OWN] = _own_choice()
    if STOP not in state:
        state[START] = stop, state[VIEW], state[OWN]
    state[STOP] = stop
    if _query(stop):
        _remember_choice(stop, state[OWN])
    else:
        _restore()
    step = tour().steps[stop]
    if step.view is not None:
        go_to_view(_view_of(step), dict(step.view.query))


def leave() -> None:
    """Leave the tour: restore the visitor's own text and model, and store the current stop."""
    st.session_state[LEFT] = st.session_state.pop(STOP, 0)
    _restore()


def is_touring() -> bool:
    """Return True during the tour; the tour's buttons then have the keys Alt+Page Up and Alt+Page Down."""
    return STOP in st.session_state


def left_at() -> int:
    """Return the index of the tour's current stop, or of the last stop shown if the visitor has left it."""
    found: int = st.session_state.get(STOP, st.session_state.get(LEFT, 0))
    return found


def _stop(view: str, at: int) -> None:
    """Draw the text of a stop and the buttons for the next stop, the previous stop and the end."""
    steps = tour().steps
    here = view == _view_of(steps[at])
    on, back = (
        ("Alt+PageDown", "Alt+PageUp") if view != "lessons" else (None, None)
    )  # Lessons use these keys for their own steps.
    title, text = (said.in_language(spoken()) for said in (steps[at].title, steps[at].text))
    text = text.replace("{lessons}", str(len(come_along())))
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
    if here and at > 0 and st.button(_("Back"), shortcut=back):
        go_to_stop(at - 1)
    if here and at < len(steps) - 1 and st.button(_("Next"), type="primary", shortcut=on):
        go_to_stop(at + 1)
    last = at == len(steps) - 1
    st.button(
        _("End the tour") if last else _("Skip the rest"),
        type="tertiary",
        on_click=leave,
        help=_("Resume it on Lessons."),
    )


def _view_of(step: LessonStep) -> str:
    """Return the view of a stop; the first view for a stop without a view of its own."""
    return FIRST if step.view is None else view_named(step.view.page) or FIRST


def _own_choice() -> ViewState:
    """Return the saved choice if the current text is the tour's, else the current choice."""
    now = get_view_state()
    kept: ViewState = st.session_state.get(OWN, now)
    return kept if any(_reads_same(now, stop) for stop in range(len(tour().steps)) if _query(stop)) else now


def _restore() -> None:
    """Restore the visitor's choice and delete the saved copy."""
    if OWN not in st.session_state:
        return
    own = _own_choice()
    del st.session_state[OWN]
    _KEPT.delete()
    if own != get_view_state():
        set_view_state(**vars(own))


def _resume(view: str) -> None:
    """Resume the tour in a new session if the address is that of this visitor's last stop."""
    state = st.session_state
    if state.get(RESUMED):
        return
    state[RESUMED] = True
    stop, own = _KEPT.get() or (-1, get_view_state())
    if stop >= 0 and view == _view_of(tour().steps[stop]) and _reads_same(get_view_state(), stop):
        state[STOP], state[OWN] = stop, own


def _rejoin(view: str) -> None:
    """Resume at the stop with the followed address, for example after the browser's back button.

    Leave the tour if the address is the place from which the visitor entered the current stop.
    """
    state = st.session_state
    if STOP not in state or not is_followed():
        return
    now = get_view_state()
    found = (
        stop
        for stop, step in enumerate(tour().steps)
        if view == _view_of(step) and (not _query(stop) or _reads_same(now, stop))
    )
    stop = next(found, None)
    entered, start, choice = state.get(START, (None, view, now))
    if entered == state[STOP] and view == start and (stop != entered or now == choice):
        leave()
        return
    state[STOP] = state[STOP] if stop is None else stop
    if _query(state[STOP]):
        state.setdefault(OWN, state.get(BEFORE, now))


def _remember_choice(stop: int, own: ViewState) -> None:
    """Save the choice for a reload, unless it is too long."""
    if len(own.text) + len(own.pair) + len(own.target) <= LONGEST_KEPT:
        _KEPT.put((stop, own))


def _query(stop: int) -> dict[str, Any]:
    """Return the query of a stop's view; {} if the stop shows the visitor's own choice."""
    view = tour().steps[stop].view
    return {} if view is None else dict(view.query)


def _reads_same(choice: ViewState, stop: int) -> bool:
    """Return True if a choice has the texts of a stop's view."""
    shown = parse(_query(stop))[0]
    return (choice.text, choice.pair) == (shown.text, shown.pair)
