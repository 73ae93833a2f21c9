"""The route that stores a selection made in a figure without running the page's script.

A request needs the secret of a selection token (ui/state/selection_token.py), which only the session of the figure has
and which is valid until the session's next run. The browser's address is updated by the same message that a run would
send.
"""

from __future__ import annotations

import json
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ui.state.selection_token import find_selection_token
from ui.streamlit_internals import send_query
from viz.components.base_path import BASE

ADDRESS = f"{BASE}/headlight/kept"
LONGEST = 4096  # Maximum size of a request body in bytes.
KEPT, MALFORMED, RUN, GONE, LONG = 204, 400, 409, 410, 413


async def keep_selection(request: Request) -> Response:
    """Store the selection in a request and return status 204.

    Return 409 if a script run must apply the selection, and 410 for an invalid token. Return 400 for a malformed
    request, and 413 for a body of more than LONGEST bytes.
    """
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
    # If a run has begun meanwhile, it writes the address.
    if slip.open and not send_query(slip.session, slip.query):
        return Response(status_code=RUN)
    return Response(status_code=KEPT)


def _read(body: bytes) -> tuple[str | None, Any]:
    """Return the token and the selection of a request body; (None, None) if it is malformed."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(asked, dict) or not isinstance(asked.get("slip"), str):
        return None, None
    return asked["slip"], asked.get("selection")


def routes() -> list[Route]:
    """Return the route of selection tokens."""
    return [Route(ADDRESS, keep_selection, methods=["POST"])]
