"""Long work in short steps: how far it is, and a way to stop that loses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

import streamlit as st

from i18n import _
from ui.run.notices import show_notice
from ui.run.services import get_backend

STOPPED, DONE = "stopped_steps", "done_steps"
PATIENCE = 0.5  # seconds before the bar is shown


def stoppable_steps(mark: str, total: int, doing: str) -> Iterator[int]:
    """Counts 0 to ``total`` while a bar says how far it is; ends early where the reader has stopped, and says so.

    ``mark`` tells one piece of work from another: what it asks must be all in it. The questions asked in the steps are
    kept by the backend, so that going on, or coming back, costs only the rest. Where the operator lets work go on only
    so long at a stretch, it stops then as if the reader had said so, a step further at least.
    """
    most = st.session_state.setdefault(STOPPED, {}).get(mark, total)
    place, begun, bar = st.empty(), monotonic(), None
    stretch, before = get_backend().settings.at_a_stretch, _steps_done(mark)
    for at in range(min(most, total)):
        if stretch is not None and at > before and monotonic() - begun > stretch:
            most = st.session_state[STOPPED][mark] = at
            break
        if bar is None and monotonic() - begun > PATIENCE:
            with place.container(horizontal=True, vertical_alignment="center"):
                bar = st.progress(0.0)
                st.button(_("Stop"), key=f"stop_{mark}", on_click=stop, args=(mark,), help=_("What is done is kept"))
        if bar is not None:
            bar.progress(at / total, text=_("{doing}: {at} of {total}", doing=doing, at=at, total=total))
        yield at
        st.session_state[DONE] = (mark, at + 1)
    place.empty()
    if most < total:
        with place.container():  # in the bar's place, so that it is gone as soon as the work goes on
            show_notice(
                _("Stopped after {most} of {total} steps; this is what is known so far.", most=most, total=total),
                "status",
            )
            st.button(_("Go on"), key=f"go_on_{mark}", on_click=go_on, args=(mark,), help=_("Continue where it was"))


def stop(mark: str) -> None:
    """The work ends where it is now, the next time the page is drawn."""
    st.session_state[STOPPED][mark] = _steps_done(mark)


def go_on(mark: str) -> None:
    """The work goes on from there."""
    st.session_state[STOPPED].pop(mark, None)


def _steps_done(mark: str) -> int:
    """How many steps of that work were done when it was last drawn."""
    done_mark, done = st.session_state.get(DONE, (mark, 0))
    return done if done_mark == mark else 0
