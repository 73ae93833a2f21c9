"""Markdown of lessons, without HTML and without images that the browser would fetch."""

from __future__ import annotations

import streamlit as st

from lessons.schema import LocalizedText
from lessons.steps import markdown_of


def draw_markdown(said: LocalizedText) -> None:
    """Draw the text if it is not empty; st.markdown shows HTML as text by default."""
    if said:
        st.markdown(markdown_of(said))
