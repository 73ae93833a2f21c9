"""The path below which the app is served, where a proxy gives it one: "/some/path"; "" where it has the whole name.

Streamlit asks for its own things there (`server.baseUrlPath`), and so does every address of ours. It is settled when
the server starts, as Streamlit's own routes are.
"""

from __future__ import annotations

from streamlit import config


def normalize_path(option: str) -> str:
    """Streamlit's option as addresses begin with it.

    >>> normalize_path("some/path/"), normalize_path("/some/path"), normalize_path("/"), normalize_path("")
    ('/some/path', '/some/path', '', '')
    """
    path = option.strip("/")
    return f"/{path}" if path else ""


BASE = normalize_path(str(config.get_option("server.baseUrlPath") or ""))
