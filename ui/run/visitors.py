"""The visitor for whom a thread draws a page; closing the page cancels the visitor's work.

Routes use ui.routes.limits.
"""

from __future__ import annotations

from inference.cancellation import Visitor
from ui import streamlit_internals


def page_visitor() -> Visitor | None:
    """Return the visitor for whom this thread draws a page, or None outside a script run."""
    session = streamlit_internals.session_id()
    return None if session is None else Visitor(session, lambda: streamlit_internals.has_left(session))
