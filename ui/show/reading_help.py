"""The lines that tell a first-time reader how to read a page: open on the first visit of it, folded afterwards."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _
from ui.state.session import PAGE

VISIT, SEEN = "help_visit", "help_seen"  # (page, whether its help is open), and the pages that were visited


def reading_help() -> DeltaGenerator:
    """The place for them. While a page is visited it stays as the reader leaves it; the session remembers visits."""
    state = st.session_state
    page = state.get(PAGE)
    seen: frozenset[str | None] = state.get(SEEN, frozenset())
    # Kept in a name of its own: a session that has just ended forgets at once what it is told.
    visit: tuple[str | None, bool] = state.get(VISIT, ("", False))
    if visit[0] != page:
        visit = (page, page not in seen)
        state[VISIT], state[SEEN] = visit, seen | {page}
    return st.expander(_("How to read this"), expanded=visit[1])
