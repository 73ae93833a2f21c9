"""The text and its picture run alone: what is changed there leaves the frame, the sidebar and the address's page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from inference.text.words import is_chinese
from ui.classroom import view_presenter
from ui.run.counters import PAGE_SECONDS
from ui.run.idle_collection import SCRIPTS
from ui.state.session import PAGE, begin, get_view_state
from ui.state.view_state import ViewState

AROUND = "around_the_picture"  # what of the choice is told outside of the picture, as it was drawn last


@contextmanager
def fragment_state() -> Iterator[ViewState]:
    """The choice of this run, be it of the whole page or of the fragment that asks.

    The whole page runs again where what stands around the fragment tells of the choice too.
    """
    run = get_script_run_ctx()
    if run is None or not run.fragment_ids_this_run:
        st.session_state[AROUND] = _sidebar_key(get_view_state())
        yield get_view_state()
        return
    with SCRIPTS.run(), PAGE_SECONDS.labels("explore").time():
        choice = begin(st.session_state[PAGE])
        if _sidebar_key(choice) != st.session_state.get(AROUND) or view_presenter() is not None:
            st.rerun()
        yield choice


def _sidebar_key(choice: ViewState) -> tuple[object, ...]:
    """What the sidebar tells of a choice that the picture or the text can change."""
    chinese = choice.words and is_chinese(choice.text + choice.pair + choice.target)
    return choice.model, choice.revision, choice.opened, chinese
