"""A picture's trace opened from a file, for the page Pictures; texts on other pages are unaffected."""

from __future__ import annotations

import streamlit as st

from attention.trace import Trace

OPENED = "picture_trace_opened"


def open_picture(trace: Trace) -> None:
    """Store a trace of a picture, to be shown on the page Pictures."""
    st.session_state[OPENED] = trace


def opened_picture() -> Trace | None:
    """Return the trace of the picture that is open on the page Pictures, or None."""
    found: Trace | None = st.session_state.get(OPENED)
    return found


def close() -> None:
    """Remove the opened picture's trace."""
    st.session_state.pop(OPENED, None)
