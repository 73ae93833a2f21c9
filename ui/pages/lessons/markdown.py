"""Markdown of lessons, without HTML and without images that the browser would fetch."""

from __future__ import annotations

import streamlit as st

from i18n import active_language
from lessons.schema import LocalizedText


def translate_markdown(said: LocalizedText) -> str:
    """Return the text in the reader's language, with the Markdown syntax for images escaped.

    >>> translate_markdown(LocalizedText((("", "Look: ![a](http://b/c.png)"),)))
    'Look: !\\\\[a](http://b/c.png)'
    """
    return said.in_language(active_language()).replace("![", "!\\[")


def draw_markdown(said: LocalizedText) -> None:
    """Draw the text if it is not empty; st.markdown shows HTML as text by default."""
    if said:
        st.markdown(translate_markdown(said))
