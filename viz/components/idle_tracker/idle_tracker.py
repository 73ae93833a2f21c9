"""The page's idle state, mounted once before the page and maintained by idle_tracker.js.

``<html data-rest="true">`` means that no request, run, download or drawing is in progress, else "false"; meanwhile
the main region is ``aria-busy``. A component that is still waiting has ``aria-busy="true"`` in its own markup.
"""

from __future__ import annotations

import streamlit as st

from viz.components.script import script


def mount() -> None:
    """Begin to track the idle state; assets/app.css hides the component."""
    _COMPONENT(key="rest", data={"streamlit": st.__version__})


_COMPONENT = st.components.v2.component("headlight_rest", html="<span></span>", js=script("idle_tracker/idle_tracker"))
