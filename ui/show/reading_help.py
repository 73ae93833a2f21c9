"""The lines that tell a first-time reader how to read a page: open on the first visit of it, folded afterwards."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.state.session import PAGE

VISIT, SEEN = "help_visit", "help_seen"  # (page, whether its help is open), and the pages that were visited


def reading_help() -> DeltaGenerator:
    """The place for them. While a page is visited it stays as the reader leaves it; the session remembers visits."""
    state = st.session_state
    page = state.get(PAGE)
    if state.get(VISIT, ("",))[0] != page:
        seen: set[str | None] = state.setdefault(SEEN, set())
        state[VISIT] = (page, page not in seen)
        seen.add(page)
    return st.expander("How to read this", expanded=state[VISIT][1])
