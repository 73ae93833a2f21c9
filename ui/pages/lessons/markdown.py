"""A lesson's text on the page: Markdown and formulas, no HTML, and no picture that the browser would fetch."""

from __future__ import annotations

import streamlit as st

from i18n import active_language
from lessons.schema import LocalizedText


def translate_markdown(said: LocalizedText) -> str:
    """It in the reader's language; a picture's mark is a letter like others.

    >>> translate_markdown(LocalizedText((("", "Look: ![a](http://b/c.png)"),)))
    'Look: !\\\\[a](http://b/c.png)'
    """
    return said.in_language(active_language()).replace("![", "!\\[")


def draw_markdown(said: LocalizedText) -> None:
    """Draw it where there is any; HTML in it is shown as text, which is what st.markdown does unless told otherwise."""
    if said:
        st.markdown(translate_markdown(said))
