"""A visit to the app over its WebSocket without a browser, and the arrival times of its messages."""

from __future__ import annotations

import time
from typing import Any

COMPOSER = "composer"  # part of the name of the text box component


def first_frame(url: str, patience: float = 120.0) -> dict[str, float]:
    """Return the arrival times of the first script run's messages, as of time.perf_counter().

    The keys are "first" (the first message), "frame" (the text box, so the reader can type) and "done" (the end of
    the run).
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
    """Record the arrival of the text box and of the end of the run."""
    kind = message.WhichOneof("type")
    if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
        element = message.delta.new_element
        if element.WhichOneof("type") == "bidi_component" and COMPOSER in element.bidi_component.component_name:
            seen.setdefault("frame", time.perf_counter())
    if kind == "script_finished":
        seen["done"] = time.perf_counter()
