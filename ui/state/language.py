"""The language of a session: from its link or selection, else from the browser."""

from __future__ import annotations

import threading

import streamlit as st

from i18n import ENGLISH, active_language, available_languages
from ui.streamlit_internals import script_run

LANGUAGE = "language"  # Key in st.session_state: the language from the selection or a link.
ADDRESS = "lang"  # Name of the query field.
TAGS = {"zh": "zh-Hans"}  # Tags that differ from the app's language codes.


_KNOWN = threading.local()  # Cached by thread: ``run`` is the script run context, ``code`` its language.


def session_language() -> str:
    """Return the language of the session in this thread; English outside a script run.

    The result is cached for each run, because each message calls this function.
    """
    run = script_run()
    if run is None:
        return ENGLISH
    if getattr(_KNOWN, "run", None) is not run:
        picked: str | None = st.session_state.get(LANGUAGE)
        _KNOWN.run, _KNOWN.code = run, picked or of_browser(st.context.locale)
    code: str = _KNOWN.code
    return code


def set_language(code: str) -> None:
    """Set the language of this session."""
    st.session_state[LANGUAGE] = code
    _KNOWN.run = None


def of_browser(locale: str | None) -> str:
    """Return the app's language for a browser's locale, such as "zh" for zh-CN; English if it is unknown.

    >>> of_browser("zh-CN"), of_browser("en-GB"), of_browser("xx"), of_browser(None)
    ('zh', 'en', 'en', 'en')
    """
    code = (locale or "").replace("_", "-").split("-")[0].lower()
    return code if code in available_languages() else ENGLISH


def take_address(query: dict[str, str]) -> dict[str, str]:
    """Set the language that an address states, if the app has it; return the query without it."""
    if (code := query.get(ADDRESS)) in available_languages():
        set_language(code)
    return {name: raw for name, raw in query.items() if name != ADDRESS}


def tag() -> str:
    """Return the BCP 47 tag of the active language.

    >>> tag()
    'en'
    """
    return TAGS.get(active_language(), active_language())


def address_fields() -> dict[str, str]:
    """Return the query field of the language; {} if the browser's language is used."""
    picked = st.session_state.get(LANGUAGE)
    return {ADDRESS: picked} if picked else {}
