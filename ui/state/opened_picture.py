"""A saved trace of a picture that was opened: the page Pictures shows it, whichever text other pages show."""

from __future__ import annotations

import streamlit as st

from attention.trace import Trace

OPENED = "picture_trace_opened"


def open_picture(trace: Trace) -> None:
    """Show it from now on."""
    st.session_state[OPENED] = trace


def opened_picture() -> Trace | None:
    """What was opened."""
    found: Trace | None = st.session_state.get(OPENED)
    return found


def close() -> None:
    """Show it no longer, and forget it."""
    st.session_state.pop(OPENED, None)
