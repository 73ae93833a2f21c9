"""All Python code that depends on Streamlit's private modules, paths and messages.

Importing this module checks Streamlit's version, because private names may change with each release, and mends its
queue of messages to the browser. The scripts' counterpart is `viz/components/shared/streamlit_internals.js`; style
rules that use Streamlit's elements are in `assets/app.css`. `tests/house/test_layers.py` forbids private names
elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol
from urllib.parse import urlencode

import streamlit

EXPECTED = "1.67"  # The release whose private names are used below; requirements.txt pins it.
WRONG_VERSION = (
    "Streamlit {installed} is installed, but Headlight needs Streamlit {expected}, since it uses private parts of it."
    ' Run: pip install "streamlit=={expected}.*"'
)


def check_version(installed: str) -> None:
    """Raise RuntimeError if the installed Streamlit is not of the release that this module was written for.

    >>> check_version("1.67.3")
    >>> check_version("1.7")
    Traceback (most recent call last):
    RuntimeError: Streamlit 1.7 is installed, but Headlight needs Streamlit 1.67, since it uses private parts of it. ...
    """
    if not f"{installed}.".startswith(f"{EXPECTED}."):
        raise RuntimeError(WRONG_VERSION.format(installed=installed, expected=EXPECTED))


check_version(streamlit.__version__)  # Before the private imports, whose errors would not name the cause.

from streamlit.proto.BackMsg_pb2 import BackMsg  # noqa: E402
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg  # noqa: E402
from streamlit.runtime import Runtime  # noqa: E402
from streamlit.runtime.app_session import AppSession  # noqa: E402
from streamlit.runtime.scriptrunner import ScriptRunContext, get_script_run_ctx  # noqa: E402
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType  # noqa: E402
from streamlit.runtime.session_manager import SessionClientDisconnectedError  # noqa: E402
from streamlit.runtime.state.common import user_key_from_element_id  # noqa: E402
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec  # noqa: E402

__all__ = ["BackMsg", "ForwardMsg", "UploadedFile", "UploadedFileRec"]

# Paths below the app's base path, and names of the protocol.
UPLOADS = "/_stcore/upload_file/"
METRICS = "/_stcore/metrics/"  # Streamlit's own metrics about its sessions.
HEALTH = "/_stcore/health"
MESSAGES = "/_stcore/stream"  # The WebSocket of a page.
XSRF_COOKIE = "_streamlit_xsrf"  # The cookie of uploads.
TRIGGER_PREFIX = "$$STREAMLIT_INTERNAL_KEY"  # The prefix of a component's trigger names.


def _clear_queue(self: AppSession, fragment_ids_this_run: list[str] | None = None) -> None:
    """Remove the unsent elements of the last run from a session's queue; keep all of them if a fragment runs next.

    Streamlit's own method would remove the elements of this fragment, and keep those of fragments in it and those below
    it. The browser could not place these, and the whole page would disappear with the error "Bad delta path index".
    """
    emptied: list[str] | None = [] if fragment_ids_this_run else None  # The fragments whose elements are removed.
    self._browser_queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=emptied)


AppSession._clear_queue = _clear_queue  # type: ignore[method-assign]  # noqa: SLF001  # no public interface


def script_run() -> ScriptRunContext | None:
    """Return Streamlit's context of the script run in this thread, or None outside a script run."""
    return get_script_run_ctx(suppress_warning=True)


def session_id() -> str | None:
    """Return the id of this thread's session, or None outside a script run."""
    run = script_run()
    return None if run is None else run.session_id


def is_fragment_run() -> bool:
    """Return True if this thread runs a fragment of a page and not the whole page."""
    run = script_run()
    return run is not None and bool(run.fragment_ids_this_run)


def is_pressed(key: str) -> bool:
    """Return True if the button with this key was pressed during this run.

    Streamlit itself reports the press only in the next run. For a button in a fragment, that run begins only after this
    run ends.
    """
    run = script_run()
    requests = None if run is None else run.script_requests
    if requests is None or requests._state is not ScriptRequestType.RERUN:  # noqa: SLF001  # no public interface
        return False
    states = requests._rerun_data.widget_states  # noqa: SLF001
    pressed = [] if states is None else [state.id for state in states.widgets if state.trigger_value]
    return any(user_key_from_element_id(element) == key for element in pressed)


def has_left(session: str) -> bool:
    """Return True if the session's page is closed or disconnected.

    If the page connects again, it asks for its results again, so they need not be kept.
    """
    return Runtime.exists() and not Runtime.instance().is_active_session(session)


def send_query(session: str, query: Mapping[str, str]) -> bool:
    """Write a query into the address of a session's browser; return False if the browser is disconnected."""
    client = Runtime.instance().get_client(session) if Runtime.exists() else None
    if client is None:
        return False
    message = ForwardMsg()
    message.page_info_changed.query_string = urlencode(query)
    try:
        client.write_forward_msg(message)
    except SessionClientDisconnectedError:
        return False
    return True


class UploadedFiles(Protocol):
    """Streamlit's storage of uploaded files, by session and by file id."""

    file_storage: dict[str, dict[str, UploadedFileRec]]

    def remove_file(self, session_id: str, file_id: str) -> None:
        """Remove an uploaded file of a session from the storage."""
        ...


def uploaded_files() -> UploadedFiles:
    """Return the storage of uploaded files; Streamlit's default storage is in memory."""
    found: UploadedFiles = Runtime.instance().uploaded_file_mgr  # type: ignore[assignment]  # the default manager
    return found


def chart_script() -> str:
    """Return the path below the base path of the script that draws charts; "" if there is none."""
    found = (Path(streamlit.__file__).parent / "static" / "static" / "js").glob("PlotlyChart.*.js")
    return next((f"/static/js/{path.name}" for path in found), "")


def inline_scripts() -> str:
    """Return hashes of the inline scripts in Streamlit's index.html, for the Content-Security-Policy."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
