"""Parts of a page that are redrawn at intervals, without the rest of the page."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def redraw_every(seconds: float | None, draw: Callable[..., object], *values: object) -> None:
    """Call ``draw(*values)`` now and every ``seconds``; None calls it only now.

    The part has a container of its own. If an update of the part is due during a run of the page, Streamlit drops the
    elements that this run drew for the part. Without the container, all elements after the part would move up, and
    the update would overwrite the first of them.
    """
    with st.container():
        st.fragment(draw, run_every=seconds)(*values)
