"""For which visitor a thread computes: a page's, as long as it is open. Routes say it (ui.routes.limits)."""

from __future__ import annotations

from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.state.common import user_key_from_element_id

from inference.cancellation import Visitor


def page_visitor() -> Visitor | None:
    """Whose page this thread draws; None where it draws none."""
    run = get_script_run_ctx(suppress_warning=True)
    if run is None:
        return None
    session = run.session_id
    return Visitor(session, lambda: has_left(session))


def is_pressed(key: str) -> bool:
    """Whether the button of that key was pressed while this page is drawn: Streamlit tells it to the next drawing only,
    and where a fragment has the button, that begins when this one has ended.
    """
    run = get_script_run_ctx(suppress_warning=True)
    asked = None if run is None else run.script_requests
    if asked is None or asked._state is not ScriptRequestType.RERUN:  # noqa: SLF001  # there is no public way to ask
        return False
    states = asked._rerun_data.widget_states  # noqa: SLF001
    pressed = [] if states is None else [state.id for state in states.widgets if state.trigger_value]
    return any(user_key_from_element_id(element) == key for element in pressed)


def has_left(session: str) -> bool:
    """Whether that page is closed, or its connection lost: another one then begins what it needs."""
    return Runtime.exists() and not Runtime.instance().is_active_session(session)
