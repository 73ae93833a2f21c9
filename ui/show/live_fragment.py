"""The view state in a part of the page that Streamlit reruns by itself (a fragment): the text and its picture."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from ui.classroom import view_presenter
from ui.run.counters import PAGE_SECONDS
from ui.run.idle_collection import SCRIPTS
from ui.state.navigation import BY_VIEW
from ui.state.session import begin, current_view, get_view_state
from ui.state.view_state import ViewState
from ui.streamlit_internals import is_fragment_run

AROUND = "model_around_the_picture"  # session key: the model of the last run of the whole page


@contextmanager
def fragment_state() -> Iterator[ViewState]:
    """Inside the block, provide the view state, in a run of the whole page or of the fragment.

    A fragment run causes a run of the whole page if the model has changed, because the browser's title names the model.
    It also does so if this session teaches a class of students, to which the page is then presented.
    """
    if not is_fragment_run():
        st.session_state[AROUND] = get_view_state().model
        yield get_view_state()
        return
    with SCRIPTS.run(), PAGE_SECONDS.labels(current_view()).time():
        choice = begin(BY_VIEW[current_view()].path)
        if choice.model != st.session_state.get(AROUND) or view_presenter() is not None:
            st.rerun()
        yield choice
