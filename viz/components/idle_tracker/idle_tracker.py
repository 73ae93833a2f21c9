"""The page's one mark of rest: mounted once, before the page; kept by rest.js.

``<html data-rest="true">`` when nothing is asked, under way, fetched or painted any more, else "false"; the main region
is ``aria-busy`` meanwhile. A component of ours that still waits says ``aria-busy="true"`` in its own markup.
"""

from __future__ import annotations

import streamlit as st

from viz.components.script import script


def mount() -> None:
    """Begin to keep the mark; assets/app.css gives the component no room on the page."""
    _COMPONENT(key="rest")


_COMPONENT = st.components.v2.component("headlight_rest", html="<span></span>", js=script("idle_tracker/idle_tracker"))
