"""Parts of a page that are redrawn at intervals, without the rest of the page."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def redraw_every(seconds: float | None, draw: Callable[..., object], *values: object) -> None:
    """Call ``draw(*values)`` now and every ``seconds``; None calls it only now.

    The redrawn part has its own container. Without it, the elements after the part would move up if the browser did
    not receive the part's elements, and the next update would overwrite the first of them.
    """
    with st.container():
        st.fragment(draw, run_every=seconds)(*values)
