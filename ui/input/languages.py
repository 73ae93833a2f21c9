"""Which language the app speaks."""

from __future__ import annotations

import streamlit as st
from babel import Locale

from i18n import _, active_language, available_languages
from ui.state.session import change_language

KEY = "picked_language"
LABEL = "Language · 语言"  # in no language, so that whoever cannot read the page finds it


def pick_language() -> None:
    """Each language under its own name."""
    st.session_state[KEY] = active_language()
    st.selectbox(
        LABEL,
        available_languages(),
        key=KEY,
        format_func=own_name,
        on_change=lambda: change_language(st.session_state[KEY]),
        help=_("Also by link: `?lang=zh` at the end of the address."),
    )


def own_name(code: str) -> str:
    """What a language calls itself.

    >>> own_name("en"), own_name("zh")
    ('English', '中文')
    """
    return str(Locale.parse(code).get_display_name())
