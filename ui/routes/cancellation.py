"""What is made for a request ends with its reader, who may close the page meanwhile, and when its time is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from i18n import translate
from inference.cancellation import Cancelled, CancelToken, use_token
from inference.fair_queue import FairThreadPool
from ui.routes.request_language import use_request_language
from ui.run.services import get_backend
from ui.server.client import names_of

FIGURES = FairThreadPool(32, "figures")  # most wait for one another: what computes has a gate of its own
Make = Callable[[Request], Response]


def reader_endpoint(make: Make) -> Callable[[Request], Awaitable[Response]]:
    """A route's endpoint that makes its answer in a thread, in turn by visitor: those that serve pages stay free."""

    async def endpoint(request: Request) -> Response:
        async with reading(request, get_backend().settings.figure_seconds) as stop:
            return await asyncio.wrap_future(FIGURES.submit(stop.who, lambda: run_within(stop, make, request)))

    return endpoint


@asynccontextmanager
async def reading(request: Request, seconds: float) -> AsyncIterator[CancelToken]:
    """How what is made for a request ends."""
    stop = CancelToken(visitor_key(request), seconds)
    gone = asyncio.ensure_future(_wait_for_disconnect(request))
    gone.add_done_callback(lambda _done: stop.stop())
    try:
        yield stop
    finally:
        gone.cancel()


def run_within(stop: CancelToken, make: Make, request: Request) -> Response:
    """The answer, or why it was stopped before."""
    try:
        with use_token(stop):
            stop.check()
            return make(request)
    except Cancelled as stopped:
        with use_request_language(request):
            return PlainTextResponse(translate(stopped.message), 400)


def visitor_key(request: Request) -> str:
    """Whose turn a request takes in a line; all of whom nothing is known share one."""
    return next(iter(names_of(request)), "")


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue
