"""A visitor without a browser: a session over the app's WebSocket."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import urlencode

BOX, PICTURE = "headlight_composer", "headlight_explore"  # names of Streamlit components
INTERNAL = "$$STREAMLIT_INTERNAL_KEY"  # prefix of a component's trigger names
PATIENCE = 600.0  # seconds for a script run


class AppSession:
    """A session. ``pages`` contains the addresses of the app's pages after the first run."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._kept: list[str] = []  # hashes of messages that a browser has cached from the last run
        self._address = ""  # query string of the address
        self._widgets: dict[str, str] = {}  # ids of components; ``_fragment`` has the ids of their fragments
        self._fragment: dict[str, str] = {}
        self.pages: list[str] = []
        self.picture: dict[str, Any] = {}  # latest data of the microscope component

    def see(self, page: str = "", **query: object) -> int:
        """Open a page with a query; return the uncompressed bytes received until its script ends."""
        from streamlit.proto.BackMsg_pb2 import BackMsg

        ask = BackMsg()
        self._address = urlencode(query)
        ask.rerun_script.page_name = page
        return self._run(ask)

    def submit(self, text: str) -> int:
        """Submit a text by the text box; return the uncompressed bytes received until the script ends."""
        return self.trigger(BOX, "submitted", {"text": text, "pair": "", "target": ""})

    def trigger(self, component: str, event: str, value: object) -> int:
        """Send a component's event; return the uncompressed bytes received until the script ends."""
        from streamlit.proto.BackMsg_pb2 import BackMsg

        widget, ask = self._widgets[component], BackMsg()
        ask.rerun_script.fragment_id = self._fragment[component]
        said = json.dumps([{"event": event, "value": value}])
        ask.rerun_script.widget_states.widgets.add(id=widget, json_value="{}")
        ask.rerun_script.widget_states.widgets.add(id=f"{INTERNAL}_{widget}__events", json_trigger_value=said)
        return self._run(ask)

    def _run(self, ask: Any) -> int:
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

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
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

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
    """Open a session inside the block; ``headers`` are sent with its first request, such as a cookie."""
    with open_session(url, AppSession, headers) as session:
        yield session


@contextmanager
def open_session(url: str, kind: Callable[[Any], Visits], headers: Mapping[str, str] | None = None) -> Iterator[Visits]:
    """Open a session of class ``kind`` inside the block."""
    from websockets.sync.client import connect

    address = url.replace("http", "ws", 1) + "/_stcore/stream"
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
