"""A visitor without a browser: one session over the app's WebSocket, which asks for page after page."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import urlencode

BOX, PICTURE = "headlight_composer", "headlight_explore"  # names of components
INTERNAL = "$$STREAMLIT_INTERNAL_KEY"  # before the name of a component's triggers
PATIENCE = 600.0  # seconds for one run of a script


class AppSession:
    """A session. ``pages`` are the addresses of the app's pages, known after the first run."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._kept: list[str] = []  # what a browser keeps of the last run and need not be sent again
        self._address = ""  # as the browser shows it
        self._widgets: dict[str, str] = {}  # a component's id, and that of the fragment that it stands in
        self._fragment: dict[str, str] = {}
        self.pages: list[str] = []
        self.picture: dict[str, Any] = {}  # what the microscope was given last

    def see(self, page: str = "", **query: object) -> int:
        """Ask for a page as a link with this query does; bytes received until its script has ended, unpacked."""
        from streamlit.proto.BackMsg_pb2 import BackMsg

        ask = BackMsg()
        self._address = urlencode(query)
        ask.rerun_script.page_name = page
        return self._run(ask)

    def submit(self, text: str) -> int:
        """Read a text as the text box asks for it; bytes received until the script has ended, unpacked."""
        return self.trigger(BOX, "submitted", {"text": text, "pair": "", "target": ""})

    def trigger(self, component: str, event: str, value: object) -> int:
        """What a component of the last page tells its script; bytes received until that has ended, unpacked."""
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
        """What of a message the visitor keeps."""
        kind = message.WhichOneof("type")
        if kind == "navigation":
            self.pages = [entry.url_pathname for entry in message.navigation.app_pages]
        if kind == "page_info_changed":
            self._address = message.page_info_changed.query_string
        if kind == "delta":
            self._note(message.delta)

    def _come(self) -> None:
        """Take what came while nothing was asked: an address."""
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        with suppress(TimeoutError):
            while True:
                message = ForwardMsg()
                message.ParseFromString(self._socket.recv(timeout=0))
                if message.WhichOneof("type") == "page_info_changed":
                    self._address = message.page_info_changed.query_string

    def _note(self, delta: Any) -> None:
        """What of an element the visitor asks with later."""
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
    """A session that ends with the block; ``headers`` are sent with its first question, such as a cookie."""
    with open_session(url, AppSession, headers) as session:
        yield session


@contextmanager
def open_session(url: str, kind: Callable[[Any], Visits], headers: Mapping[str, str] | None = None) -> Iterator[Visits]:
    """The same with another kind of visitor."""
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
    """Processor time that a process has taken, its threads together."""
    return time.clock_gettime((~process << 3) | 2)  # Linux's name for the clock of another process
