"""Parts of a page that are redrawn at intervals, without the rest of the page."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def redraw_every(seconds: float | None, draw: Callable[..., object], *values: object) -> None:
    """Call ``draw(*values)`` now and every ``seconds``; None calls it only now.

    The redrawn part has its own container. If an update is due while the page runs, Streamlit drops the part's
    elements. Without a container, the elements after it would move up, and the update would overwrite the first of
    them.
    """
    with st.container():
        st.fragment(draw, run_every=seconds)(*values)
