"""A visit to the app without a browser: its WebSocket, and when what arrived."""

from __future__ import annotations

import time
from typing import Any

COMPOSER = "composer"  # part of the name of the text box's component


def first_frame(url: str, patience: float = 120.0) -> dict[str, float]:
    """time.perf_counter() when the first run of the page's script sent its first message ("first"), its text box
    ("frame": the reader can type) and its end ("done").
    """
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from websockets.sync.client import connect

    seen: dict[str, float] = {}
    address = url.replace("http", "ws", 1) + "/_stcore/stream"
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
    """Remember when the text box and the end of the run arrived."""
    kind = message.WhichOneof("type")
    if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
        element = message.delta.new_element
        if element.WhichOneof("type") == "bidi_component" and COMPOSER in element.bidi_component.component_name:
            seen.setdefault("frame", time.perf_counter())
    if kind == "script_finished":
        seen["done"] = time.perf_counter()
