"""What a student's page asks while it waits: whether the teacher has done something since.

The answer comes as soon as there is something new, or after some seconds without. All who wait in a room look through
one pair of eyes: a single look into the store, forty times a second, is for everybody.
"""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop, Task

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ui.run.classes import store
from ui.state.classroom import is_code
from viz.components.base_path import BASE

ADDRESS = f"{BASE}/headlight/class/{{code}}"
WAIT, LOOK = 5.0, 0.025  # seconds that a question waits at most, and between two looks into the store


class ClassWatcher:
    """The looks into rooms, one for all who wait in the same one and know the same of it.

    It belongs to the server's one loop; what another process does in the same file is seen like what this one does.
    """

    def __init__(self) -> None:
        self._looking: dict[tuple[AbstractEventLoop, str, int], Task[int]] = {}

    async def wait_for_version(self, code: str, since: int, seconds: float) -> int:
        """The room's version as soon as it is another than ``since``, or after so long; at once where it is already.

        0 where there is no such room (any more).
        """
        version = store().version(code)
        if version != since or version == 0 or seconds <= 0:
            return version
        key = (asyncio.get_running_loop(), code, since)
        look = self._looking.get(key)
        if look is None:
            look = self._looking[key] = asyncio.create_task(self._poll(key))
        await asyncio.wait([look], timeout=seconds)  # who goes away leaves the look to the others
        return look.result() if look.done() else since

    async def _poll(self, key: tuple[AbstractEventLoop, str, int]) -> int:
        """Look until there is something new, for as long as anybody may wait who came when it began."""
        loop, code, since = key
        until = loop.time() + WAIT
        try:
            while (version := store().version(code)) == since and loop.time() < until:
                await asyncio.sleep(LOOK)
            return version
        finally:
            del self._looking[key]


WATCH = ClassWatcher()


async def class_version(request: Request) -> Response:
    """The room's version as soon as it is another than ``since``, at once where there is no room: that is 0."""
    code, since = request.path_params["code"], request.query_params.get("since", "")
    if not is_code(code) or not (since.isascii() and since.isdigit() and len(since) < 10):
        return Response(status_code=404)
    version = await WATCH.wait_for_version(code, int(since), WAIT)
    return JSONResponse({"version": version}, headers={"Cache-Control": "no-store"})


def routes() -> list[Route]:
    """For the app's own server."""
    return [Route(ADDRESS, class_version)]
