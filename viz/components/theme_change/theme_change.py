"""Runs the page again when its theme changes: figures are drawn by Python, in the colours of the theme that it knew."""

from __future__ import annotations

import streamlit as st

from viz.components.script import script


def mount() -> None:
    """Begin to watch; assets/app.css gives the component no room on the page."""
    _COMPONENT(key="theme_change", on_changed_change=_nothing)


def _nothing() -> None:
    """The run that a change asks for is all that it needs."""


_COMPONENT = st.components.v2.component(
    "headlight_theme_change", html="<span></span>", js=script("theme_change/theme_change")
)
