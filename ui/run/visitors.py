"""The visitor of a page's thread: their work is cancelled when the page is closed. Routes use ui.routes.limits."""

from __future__ import annotations

from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.state.common import user_key_from_element_id

from inference.cancellation import Visitor


def page_visitor() -> Visitor | None:
    """Return the visitor whose page this thread draws, or None outside a script run."""
    run = get_script_run_ctx(suppress_warning=True)
    if run is None:
        return None
    session = run.session_id
    return Visitor(session, lambda: has_left(session))


def is_pressed(key: str) -> bool:
    """Return True if the button with this key was pressed during this run.

    Streamlit passes the press only to the next run, and for a button in a fragment that run begins after this run
    ends.
    """
    run = get_script_run_ctx(suppress_warning=True)
    asked = None if run is None else run.script_requests
    if asked is None or asked._state is not ScriptRequestType.RERUN:  # noqa: SLF001  # Streamlit has no public interface for this
        return False
    states = asked._rerun_data.widget_states  # noqa: SLF001
    pressed = [] if states is None else [state.id for state in states.widgets if state.trigger_value]
    return any(user_key_from_element_id(element) == key for element in pressed)


def has_left(session: str) -> bool:
    """Return True if the session's page is closed or disconnected.

    A reconnected page requests its results again.
    """
    return Runtime.exists() and not Runtime.instance().is_active_session(session)
