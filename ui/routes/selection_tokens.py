"""Where a browser tells what is kept in a picture, without a run of the page's script (ui/state/selection_token.py).

The slip's token is the only way in: it was sent to one session, with its picture, and ends with that session's next
run. The browser's address follows by the message that a run would have sent.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.session_manager import SessionClientDisconnectedError

from ui.state.selection_token import SelectionToken, find_selection_token
from viz.components.base_path import BASE

ADDRESS = f"{BASE}/headlight/kept"
LONGEST = 4096  # bytes of a question
KEPT, MALFORMED, RUN, GONE, LONG = 204, 400, 409, 410, 413


async def keep_selection(request: Request) -> Response:
    """204 where it is kept; 409 where a run has to tell, 410 where the slip is good no longer."""
    body = b""
    async for block in request.stream():
        body += block
        if len(body) > LONGEST:
            return Response(status_code=LONG)
    token, said = _read(body)
    if token is None:
        return Response(status_code=MALFORMED)
    slip = find_selection_token(token)
    if slip is None or not slip.open:
        return Response(status_code=GONE)
    kept = await run_in_threadpool(slip.keep, said)
    if not kept:
        return Response(status_code=RUN if slip.open else GONE)
    if slip.open and not write_address(slip):  # a run that has begun meanwhile writes the address itself
        return Response(status_code=RUN)
    return Response(status_code=KEPT)


def _read(body: bytes) -> tuple[str | None, Any]:
    """The slip's token and what is said; no token where this is no such question."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(asked, dict) or not isinstance(asked.get("slip"), str):
        return None, None
    return asked["slip"], asked.get("selection")


def write_address(slip: SelectionToken) -> bool:
    """The address of what is kept, into the browser of the session whose slip it is; False where that is away."""
    client = Runtime.instance().get_client(slip.session) if Runtime.exists() else None
    if client is None:
        return False
    message = ForwardMsg()
    message.page_info_changed.query_string = urlencode(slip.query)
    try:
        client.write_forward_msg(message)
    except SessionClientDisconnectedError:
        return False
    return True


def routes() -> list[Route]:
    """For the app's own server."""
    return [Route(ADDRESS, keep_selection, methods=["POST"])]
