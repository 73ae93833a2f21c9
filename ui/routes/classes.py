"""What a student's page asks while it waits: whether the teacher has done something since.

The answer comes as soon as there is something new, or after some seconds without; so a change is on every screen a
moment later, and nobody asks in vain twenty times a second.
"""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ui.run.classes import store
from ui.state.attending import is_code
from viz.components.base_path import BASE

ADDRESS = f"{BASE}/headlight/class/{{code}}"
WAIT, LOOK = 5.0, 0.1  # seconds that a question waits at most, and between two looks into the store


async def news(request: Request) -> Response:
    """The room's version as soon as it is another than ``since``, at once where there is no room: that is 0."""
    code, since = request.path_params["code"], request.query_params.get("since", "")
    if not is_code(code) or not (since.isascii() and since.isdigit() and len(since) < 10):
        return Response(status_code=404)
    until = asyncio.get_running_loop().time() + WAIT
    while (version := store().version(code)) == int(since) != 0 and asyncio.get_running_loop().time() < until:
        await asyncio.sleep(LOOK)
    return JSONResponse({"version": version}, headers={"Cache-Control": "no-store"})


def routes() -> list[Route]:
    """For the app's own server."""
    return [Route(ADDRESS, news)]
