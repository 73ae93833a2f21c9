"""The path prefix of the app behind a proxy, such as "/some/path", or "" at the root of the host.

Streamlit serves all its files under the prefix (`server.baseUrlPath`), and so do all routes of this app. The
prefix is fixed when the server starts, like Streamlit's routes.
"""

from __future__ import annotations

import streamlit as st


def normalize_path(option: str) -> str:
    """Return Streamlit's `server.baseUrlPath` with a leading and without a trailing slash; "" for the root.

    >>> normalize_path("some/path/"), normalize_path("/some/path"), normalize_path("/"), normalize_path("")
    ('/some/path', '/some/path', '', '')
    """
    path = option.strip("/")
    return f"/{path}" if path else ""


BASE = normalize_path(str(st.get_option("server.baseUrlPath") or ""))
