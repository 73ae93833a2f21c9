"""What is made for a request ends with its reader, who may close the page meanwhile, and when its time is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from inference.stops import Stop, Stopped, ending
from ui.routes.reader import to_reader
from ui.run.shelf import backend
from ui.server.client import names_of
from wording import told

Make = Callable[[Request], Response]


def of_reader(make: Make) -> Callable[[Request], Awaitable[Response]]:
    """A route's endpoint that makes its answer in one of the server's threads."""

    async def endpoint(request: Request) -> Response:
        async with reading(request, backend().settings.figure_seconds) as stop:
            return await run_in_threadpool(within, stop, make, request)

    return endpoint


@asynccontextmanager
async def reading(request: Request, seconds: float) -> AsyncIterator[Stop]:
    """How what is made for a request ends."""
    stop = Stop(who(request), seconds)
    gone = asyncio.ensure_future(_gone(request))
    gone.add_done_callback(lambda _done: stop.stop())
    try:
        yield stop
    finally:
        gone.cancel()


def within(stop: Stop, make: Make, request: Request) -> Response:
    """The answer, or why it was stopped before."""
    try:
        with ending(stop):
            stop.check()
            return make(request)
    except Stopped as stopped:
        with to_reader(request):
            return PlainTextResponse(told(stopped.message), 400)


def who(request: Request) -> str:
    """Whose turn a request takes in a line; all of whom nothing is known share one."""
    return next(iter(names_of(request)), "")


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue
