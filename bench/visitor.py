"""Simulated visitors of the app without a browser, and the arrival times of its messages."""

from __future__ import annotations

import json
import secrets
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.cookies import SimpleCookie
from typing import Any, TypeVar
from urllib.parse import urlencode

BOX, PICTURE = "headlight_composer", "headlight_explore"  # names of Streamlit components
PATIENCE = 600.0  # seconds for a script run


class AppSession:
    """A visitor's session with the app over its WebSocket, without a browser.

    After the first run, ``pages`` has the addresses of the app's pages.
    """

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._kept: list[str] = []  # hashes of messages that a browser has cached from the last run
        self._address = ""  # query string of the address
        self._widgets: dict[str, str] = {}  # ids of components; ``_fragment`` has the ids of their fragments
        self._fragment: dict[str, str] = {}
        self.pages: list[str] = []
        self.picture: dict[str, Any] = {}  # latest data of the microscope component

    def see(self, page: str = "", **query: object) -> int:
        """Open a page with a query; return the uncompressed bytes received until its script has run."""
        from ui.streamlit_internals import BackMsg

        ask = BackMsg()
        self._address = urlencode(query)
        ask.rerun_script.page_name = page
        return self._run(ask)

    def submit(self, text: str) -> int:
        """Submit a text in the text box; return the uncompressed bytes received until the script ends."""
        return self.trigger(BOX, "submitted", {"text": text, "pair": "", "target": ""})

    def trigger(self, component: str, event: str, value: object) -> int:
        """Send an event of a component; return the uncompressed bytes received until the script ends."""
        from ui.streamlit_internals import TRIGGER_PREFIX, BackMsg

        widget, ask = self._widgets[component], BackMsg()
        ask.rerun_script.fragment_id = self._fragment[component]
        said = json.dumps([{"event": event, "value": value}])
        ask.rerun_script.widget_states.widgets.add(id=widget, json_value="{}")
        ask.rerun_script.widget_states.widgets.add(id=f"{TRIGGER_PREFIX}_{widget}__events", json_trigger_value=said)
        return self._run(ask)

    def _run(self, ask: Any) -> int:
        from ui.streamlit_internals import ForwardMsg

        self._come()
        ask.rerun_script.query_string = self._address
        ask.rerun_script.cached_message_hashes.extend(self._kept)
        self._socket.send(ask.SerializeToString())
        size, kept, end = 0, [], time.perf_counter() + PATIENCE
        while True:
            data = self._socket.recv(timeout=max(0.1, end - time.perf_counter()))
            size += len(data)
            message = ForwardMsg()
            message.ParseFromString(data)
            kind = message.WhichOneof("type")
            if message.metadata.cacheable or kind == "ref_hash":
                kept.append(message.ref_hash if kind == "ref_hash" else message.hash)
            self._take(message)
            if kind == "script_finished" and message.script_finished in (
                ForwardMsg.FINISHED_SUCCESSFULLY,
                ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
            ):
                self._kept = kept
                return size

    def _take(self, message: Any) -> None:
        """Store the pages, the address and the elements of a message."""
        kind = message.WhichOneof("type")
        if kind == "navigation":
            self.pages = [entry.url_pathname for entry in message.navigation.app_pages]
        if kind == "page_info_changed":
            self._address = message.page_info_changed.query_string
        if kind == "delta":
            self._note(message.delta)

    def _come(self) -> None:
        """Process messages that arrived since the last run, such as a new address."""
        from ui.streamlit_internals import ForwardMsg

        with suppress(TimeoutError):
            while True:
                message = ForwardMsg()
                message.ParseFromString(self._socket.recv(timeout=0))
                if message.WhichOneof("type") == "page_info_changed":
                    self._address = message.page_info_changed.query_string

    def _note(self, delta: Any) -> None:
        """Store the ids and the data of a component; raise RuntimeError if the element is an exception."""
        kind = delta.new_element.WhichOneof("type")
        if kind == "exception":
            raise RuntimeError(f"The page failed: {delta.new_element.exception.message}")
        if kind == "bidi_component":
            part = delta.new_element.bidi_component
            self._widgets[part.component_name] = part.id
            self._fragment[part.component_name] = delta.fragment_id
            if part.component_name == PICTURE:
                self.picture = json.loads(part.json)


Visits = TypeVar("Visits", bound=AppSession)


@contextmanager
def visitor(url: str, headers: Mapping[str, str] | None = None) -> Iterator[AppSession]:
    """Inside the block, open a session with the app; yield it.

    ``headers`` are sent with its first request.
    """
    with open_session(url, AppSession, headers) as session:
        yield session


@contextmanager
def open_session(url: str, kind: Callable[[Any], Visits], headers: Mapping[str, str] | None = None) -> Iterator[Visits]:
    """Inside the block, open a session of the class ``kind``; yield it."""
    from websockets.sync.client import connect

    from ui.streamlit_internals import MESSAGES

    address = url.replace("http", "ws", 1) + MESSAGES
    wishes: dict[str, Any] = {
        "subprotocols": ["streamlit"],
        "origin": url,
        "max_size": None,
        "additional_headers": headers,
    }
    with connect(address, open_timeout=PATIENCE, ping_timeout=None, **wishes) as socket:
        yield kind(socket)


def processor_seconds(process: int) -> float:
    """Return the CPU time of all threads of a process in seconds."""
    return time.clock_gettime((~process << 3) | 2)  # Linux's clock id of another process


REFUSAL = "headlight-refusal"  # CSS class of an error message


class BusyVisitor(AppSession):
    """A simulated visitor who can also click buttons and upload files.

    ``progress`` is the text of the page's latest progress bar, ``refusal`` its latest error message.
    """

    def __init__(self, socket: Any) -> None:
        super().__init__(socket)
        self._buttons: dict[str, tuple[str, str]] = {}  # label -> (id, id of its fragment)
        self.pictures = 0  # figures received since the page was opened
        self.refusal = ""
        self._place = self._uploader = self._session = self._watching = self.progress = ""

    def see(self, page: str = "", **query: object) -> int:
        """Open a page with a query, and reset the number of its figures to 0.

        Return the uncompressed bytes received until the script has run.
        """
        self.pictures = 0
        return super().see(page, **query)

    def press(self, label: str) -> None:
        """Click the button with this label."""
        from ui.streamlit_internals import BackMsg

        (widget, fragment), ask = self._buttons[label], BackMsg()
        ask.rerun_script.page_script_hash, ask.rerun_script.fragment_id = self._place, fragment
        ask.rerun_script.widget_states.widgets.add(id=widget, trigger_value=True)
        self._run(ask)

    def has_button(self, label: str) -> bool:
        """Return True if the session has ever received a button with this label."""
        return label in self._buttons

    def look(self) -> None:
        """Rerun the part of the page that reruns at intervals, or else the whole page."""
        from ui.streamlit_internals import BackMsg

        ask = BackMsg()
        ask.rerun_script.page_script_hash, ask.rerun_script.fragment_id = self._place, self._watching
        self._run(ask)

    def bring(self, url: str, name: str, content: bytes) -> None:
        """Upload a file through the file uploader of the page."""
        from ui.streamlit_internals import BackMsg, ForwardMsg

        ask, answer = BackMsg(), ForwardMsg()
        ask.file_urls_request.request_id = "bench"
        ask.file_urls_request.file_names.append(name)
        ask.file_urls_request.session_id = self._session
        self._socket.send(ask.SerializeToString())
        while answer.WhichOneof("type") != "file_urls_response":
            answer = ForwardMsg()
            answer.ParseFromString(self._socket.recv(timeout=60))
        places = answer.file_urls_response.file_urls[0]
        send(url, places.upload_url, name, content)
        ask = BackMsg()
        ask.rerun_script.page_script_hash = self._place
        state = ask.rerun_script.widget_states.widgets.add(id=self._uploader).file_uploader_state_value
        state.uploaded_file_info.add(name=name, size=len(content), file_id=places.file_id, file_urls=places)
        self._run(ask)

    def _take(self, message: Any) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._session = message.new_session.initialize.session_id
        if kind == "navigation":
            self._place = message.navigation.page_script_hash
        if kind == "auto_rerun":
            self._watching = message.auto_rerun.fragment_id
        if kind == "stop_auto_rerun":
            self._watching = ""
        super()._take(message)

    def _note(self, delta: Any) -> None:
        super()._note(delta)
        element, kind = delta.new_element, delta.new_element.WhichOneof("type")
        if kind == "button":
            self._buttons[element.button.label] = element.button.id, delta.fragment_id
        if kind == "html" and REFUSAL in element.html.body:
            self.refusal = element.html.body
        if kind == "file_uploader":
            self._uploader = element.file_uploader.id
        self.pictures += kind == "plotly_chart"
        if kind == "progress":
            self.progress = element.progress.text


def send(url: str, address: str, name: str, content: bytes) -> None:
    """Upload a file to the upload address as a browser does."""
    from ui.streamlit_internals import HEALTH, XSRF_COOKIE

    with urllib.request.urlopen(f"{url}{HEALTH}", timeout=60) as answer:
        token = SimpleCookie(answer.headers.get("Set-Cookie", ""))[XSRF_COOKIE].value
    border = secrets.token_hex(16)
    head = f'--{border}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = head.encode() + content + f"\r\n--{border}--\r\n".encode()
    headers = {
        "Content-Type": f"multipart/form-data; boundary={border}",
        "Cookie": f"{XSRF_COOKIE}={token}",
        "X-Xsrftoken": token,
    }
    asked = urllib.request.Request(f"{url}{address}", body, headers, method="PUT")
    with urllib.request.urlopen(asked, timeout=120) as answer:
        answer.read()


COMPOSER = "composer"  # part of the name of the text box component


def first_frame(url: str, patience: float = 120.0) -> dict[str, float]:
    """Return the times, by time.perf_counter(), at which messages of a page's first script run arrive.

    The keys are "first" (the first message), "frame" (the text box, in which the reader can then type) and "done" (the
    end of the run).
    """
    from websockets.sync.client import connect

    from ui.streamlit_internals import MESSAGES, BackMsg, ForwardMsg

    seen: dict[str, float] = {}
    address = url.replace("http", "ws", 1) + MESSAGES
    wishes: dict[str, Any] = {"subprotocols": ["streamlit"], "origin": url, "max_size": None}
    with connect(address, open_timeout=patience, **wishes) as socket:
        ask = BackMsg()
        ask.rerun_script.query_string = ""
        socket.send(ask.SerializeToString())
        end = time.perf_counter() + patience
        while "done" not in seen:
            message = ForwardMsg()
            message.ParseFromString(socket.recv(timeout=max(0.1, end - time.perf_counter())))
            seen.setdefault("first", time.perf_counter())
            note(message, seen)
    return seen


def note(message: Any, seen: dict[str, float]) -> None:
    """Record in ``seen`` the time at which the message arrived if it has the text box or ends the run."""
    kind = message.WhichOneof("type")
    if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
        element = message.delta.new_element
        if element.WhichOneof("type") == "bidi_component" and COMPOSER in element.bidi_component.component_name:
            seen.setdefault("frame", time.perf_counter())
    if kind == "script_finished":
        seen["done"] = time.perf_counter()
