"""A component that reruns the page if its theme changes, since Python draws figures in its colours.

The component also sets ``<html lang>``, from which screen readers choose the pronunciation.
"""

from __future__ import annotations

import streamlit as st

from viz.components.script import script


def mount(language: str = "en") -> None:
    """Watch the theme and set the page's language, a BCP 47 tag; assets/app.css hides the component."""
    _COMPONENT(key="theme_change", data={"language": language}, on_changed_change=_nothing)


def _nothing() -> None:
    """Accept the callback; the rerun that it causes is the whole effect."""


_COMPONENT = st.components.v2.component(
    "headlight_theme_change", html="<span></span>", js=script("theme_change/theme_change")
)
