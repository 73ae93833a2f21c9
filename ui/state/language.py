"""The language of a session: of its link, else picked, else the browser's."""

from __future__ import annotations

import threading

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from i18n import ENGLISH, active_language, available_languages

LANGUAGE = "language"  # in the session's state: what was picked or came with a link
ADDRESS = "lang"  # in the address
TAGS = {"zh": "zh-Hans"}  # where a document's name for a language says more than ours


_KNOWN = threading.local()  # run: the context of the runs that this thread makes; code: their language, asked for once


def session_language() -> str:
    """The language of whoever this thread serves; English where it serves nobody. Every sentence asks."""
    run = get_script_run_ctx(suppress_warning=True)
    if run is None:
        return ENGLISH
    if getattr(_KNOWN, "run", None) is not run:
        picked: str | None = st.session_state.get(LANGUAGE)
        _KNOWN.run, _KNOWN.code = run, picked or of_browser(st.context.locale)
    code: str = _KNOWN.code
    return code


def set_language(code: str) -> None:
    """From now on this language, in this session."""
    st.session_state[LANGUAGE] = code
    _KNOWN.run = None


def of_browser(locale: str | None) -> str:
    """The app's language that is nearest to the browser's, such as zh for zh-CN; else English.

    >>> of_browser("zh-CN"), of_browser("en-GB"), of_browser("xx"), of_browser(None)
    ('zh', 'en', 'en', 'en')
    """
    code = (locale or "").replace("_", "-").split("-")[0].lower()
    return code if code in available_languages() else ENGLISH


def take_address(query: dict[str, str]) -> dict[str, str]:
    """The address without its language, which is kept for the session where the app speaks it."""
    if (code := query.get(ADDRESS)) in available_languages():
        set_language(code)
    return {name: raw for name, raw in query.items() if name != ADDRESS}


def tag() -> str:
    """The language that is spoken, as a document names it.

    >>> tag()
    'en'
    """
    return TAGS.get(active_language(), active_language())


def address_fields() -> dict[str, str]:
    """What of the language goes into the address: nothing where the browser's is spoken."""
    picked = st.session_state.get(LANGUAGE)
    return {ADDRESS: picked} if picked else {}
