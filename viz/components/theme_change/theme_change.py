"""Runs the page again when its theme changes: figures are drawn by Python, in the colours of the theme that it knew.

And says which language the page is in, ``<html lang>``, by which screen readers pronounce it.
"""

from __future__ import annotations

import streamlit as st

from viz.components.script import script


def mount(language: str = "en") -> None:
    """Begin to watch a page in that language, a tag of BCP 47; assets/app.css gives the component no room on it."""
    _COMPONENT(key="theme_change", data={"language": language}, on_changed_change=_nothing)


def _nothing() -> None:
    """The run that a change asks for is all that it needs."""


_COMPONENT = st.components.v2.component(
    "headlight_theme_change", html="<span></span>", js=script("theme_change/theme_change")
)
