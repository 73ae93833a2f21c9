"""The route by which students' pages wait for a change of their class of students (long polling).

The response is sent as soon as the class changes, or after some seconds. All requests about the same version of a class
share a task that queries the store forty times a second.
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
WAIT, LOOK = 5.0, 0.025  # Maximum seconds of a request, and seconds between two queries of the store.


class ClassWatcher:
    """A watcher that waits for new questions and answers in classes of students.

    It runs on the server's event loop and reads the stored file, so it also notices changes by other processes.
    Requests that wait for the same version of a class share a polling task.
    """

    def __init__(self) -> None:
        self._looking: dict[tuple[AbstractEventLoop, str, int], Task[int]] = {}

    async def wait_for_version(self, code: str, since: int, seconds: float) -> int:
        """Wait until the version of a class differs from ``since``, or for ``seconds``; return the version.

        Return 0 if there is no such class.
        """
        version = store().version(code)
        if version != since or version == 0 or seconds <= 0:
            return version
        key = (asyncio.get_running_loop(), code, since)
        look = self._looking.get(key)
        if look is None:
            look = self._looking[key] = asyncio.create_task(self._poll(key))
        await asyncio.wait([look], timeout=seconds)  # A timeout of this request does not cancel the shared task.
        return look.result() if look.done() else since

    async def _poll(self, key: tuple[AbstractEventLoop, str, int]) -> int:
        """Poll the store until the version changes, for at most WAIT seconds."""
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
    """Return the version number of a class as JSON, as soon as it differs from ``since``.

    Return ``since`` after WAIT seconds without a change, and 0 if the class does not exist.
    """
    code, since = request.path_params["code"], request.query_params.get("since", "")
    if not is_code(code) or not (since.isascii() and since.isdigit() and len(since) < 10):
        return Response(status_code=404)
    version = await WATCH.wait_for_version(code, int(since), WAIT)
    return JSONResponse({"version": version}, headers={"Cache-Control": "no-store"})


def routes() -> list[Route]:
    """Return the route of the class version."""
    return [Route(ADDRESS, class_version)]
