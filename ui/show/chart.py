"""How every figure is put on a page: its colours, its tools, and what a click in it does."""

from __future__ import annotations

import streamlit as st

from viz.figures.theme import DARK, LIGHT, Theme

CONFIG = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "scale": 2}}


def theme() -> Theme:
    """The colours that fit the page."""
    return DARK if st.context.theme.type == "dark" else LIGHT
