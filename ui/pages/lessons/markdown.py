"""A lesson's text on the page: Markdown and formulas, no HTML, and no picture that the browser would fetch."""

from __future__ import annotations

import streamlit as st

from lessons.schema import Said
from wording import language


def told(said: Said) -> str:
    """It in the reader's language; a picture's mark is a letter like others.

    >>> told(Said((("", "Look: ![a](http://b/c.png)"),)))
    'Look: !\\\\[a](http://b/c.png)'
    """
    return said.told(language()).replace("![", "!\\[")


def show(said: Said) -> None:
    """Draw it where there is any; HTML in it is shown as text, which is what st.markdown does unless told otherwise."""
    if said:
        st.markdown(told(said))
