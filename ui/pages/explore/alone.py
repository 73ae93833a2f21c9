"""The text and its picture run alone: what is changed there leaves the frame, the sidebar and the address's page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from inference.text.chinese_words import is_chinese
from ui.attending.bar import presenting
from ui.run.counters import PAGE_SECONDS
from ui.run.idle_collection import SCRIPTS
from ui.state.choice import Choice
from ui.state.session import PAGE, begin, current

AROUND = "around_the_picture"  # what of the choice is told outside of the picture, as it was drawn last


@contextmanager
def alone() -> Iterator[Choice]:
    """The choice of this run, be it of the whole page or of the fragment that asks.

    The whole page runs again where what stands around the fragment tells of the choice too.
    """
    run = get_script_run_ctx()
    if run is None or not run.fragment_ids_this_run:
        st.session_state[AROUND] = _around(current())
        yield current()
        return
    with SCRIPTS.run(), PAGE_SECONDS.labels("explore").time():
        choice = begin(st.session_state[PAGE])
        if _around(choice) != st.session_state.get(AROUND) or presenting() is not None:
            st.rerun()
        yield choice


def _around(choice: Choice) -> tuple[object, ...]:
    """What the sidebar tells of a choice that the picture or the text can change."""
    chinese = choice.words and is_chinese(choice.text + choice.pair + choice.target)
    return choice.model, choice.revision, choice.opened, chinese
