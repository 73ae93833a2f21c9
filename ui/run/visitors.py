"""For which visitor a thread computes: a page's, as long as it is open. Routes say it (ui.routes.leaving)."""

from __future__ import annotations

from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from inference.stops import Visitor


def of_page() -> Visitor | None:
    """Whose page this thread draws; None where it draws none."""
    run = get_script_run_ctx(suppress_warning=True)
    if run is None:
        return None
    session = run.session_id
    return Visitor(session, lambda: has_left(session))


def has_left(session: str) -> bool:
    """Whether that page is closed, or its connection lost: another one then begins what it needs."""
    return Runtime.exists() and not Runtime.instance().is_active_session(session)
