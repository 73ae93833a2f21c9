"""Limits for requests (their time, clients that disconnect, the number of files made at once) and their language."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from i18n import ENGLISH, active_language, translate, use_language
from inference.cancellation import Cancelled, CancelToken, use_token
from inference.scheduling import FairThreadPool, QueueStats
from ui.run.services import get_backend
from ui.server.middleware import names_of
from ui.state.language import ADDRESS


def use_request_language(request: Request) -> AbstractContextManager[None]:
    """Inside the block, translate messages to the language in the request's address, or to English."""
    return use_language(request.query_params.get(ADDRESS, ENGLISH))


def in_language() -> str:
    """Return the suffix for an address that keeps the active language, "" for English.

    >>> in_language()
    ''
    """
    return "" if active_language() == ENGLISH else f"&{ADDRESS}={active_language()}"


FIGURES = FairThreadPool(32, "figures")  # Most threads wait for each other; computations have their own scheduler.
Make = Callable[[Request], Response]


def reader_endpoint(make: Make) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that runs ``make`` in separate threads, taking the requests of visitors in turn.

    The threads that serve pages therefore stay free.
    """

    async def endpoint(request: Request) -> Response:
        async with reading(request, get_backend().settings.figure_seconds) as stop:
            return await asyncio.wrap_future(FIGURES.submit(stop.who, lambda: run_within(stop, make, request)))

    return endpoint


@asynccontextmanager
async def reading(request: Request, seconds: float) -> AsyncIterator[CancelToken]:
    """Inside the block, provide a cancel token for a request.

    The token is cancelled after ``seconds``, or if the client disconnects.
    """
    stop = CancelToken(visitor_key(request), seconds)
    gone = asyncio.ensure_future(_wait_for_disconnect(request))
    gone.add_done_callback(lambda _done: stop.stop())
    try:
        yield stop
    finally:
        gone.cancel()


def run_within(stop: CancelToken, make: Make, request: Request) -> Response:
    """Run ``make`` under a cancel token and return its response, or a 400 response if it was cancelled."""
    try:
        with use_token(stop):
            stop.check()
            return make(request)
    except Cancelled as stopped:
        with use_request_language(request):
            return PlainTextResponse(translate(stopped.message), 400)


def visitor_key(request: Request) -> str:
    """Return the key under which a request waits in fair queues: its address, else its cookie, or "" if unknown."""
    return next(iter(names_of(request)), "")


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue


AGAIN = "10"  # Retry-After in seconds.


class ConcurrencyLimit:
    """A limit on the files created at the same time: ``at_once`` running and ``waiting`` queued requests.

    Further requests get the message ``sentence`` with status 503. If ``each`` is given, a visitor with that many
    running or queued requests gets the same message. A visitor is identified by address and by cookie; either of them
    counts.
    """

    def __init__(self, at_once: int, waiting: int, sentence: str, each: int | None = None) -> None:
        self.each = each
        self._names: Counter[str] = Counter()
        self._threads = FairThreadPool(at_once, "files")
        self.places = threading.BoundedSemaphore(at_once + waiting)
        self.sentence = sentence
        self.waits = QueueStats()

    def endpoint(self, make: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint that runs ``make`` under this limit."""

        async def endpoint(request: Request) -> Response:
            names = names_of(request)
            if self._has_enough(names) or not self.places.acquire(blocking=False):
                with use_request_language(request):
                    return self.busy_response()
            came = self.waits.enter()
            self._names.update(names)

            def make_in_turn(stop: CancelToken) -> Response:
                self.waits.admit(came)
                return run_within(stop, make, request)

            try:
                async with reading(request, get_backend().settings.file_seconds) as stop:
                    return await asyncio.wrap_future(self._threads.submit(stop.who, lambda: make_in_turn(stop)))
            finally:
                self.places.release()
                self._names.subtract(names)
                self._names += Counter()  # Drop the names with a count of zero.

        return endpoint

    def _has_enough(self, names: tuple[str, ...]) -> bool:
        """Return True if the visitor has reached the limit ``each``; call this on the event loop only."""
        return self.each is not None and any(self._names[name] >= self.each for name in names)

    def hold_place(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the blocks of a file, which counts as a running request until its last block.

        If the limit is reached, yield nothing.
        """
        if not self.places.acquire(blocking=False):
            return
        try:
            yield from blocks
        finally:
            self.places.release()

    def busy_response(self) -> Response:
        """Count a rejected request and return the 503 response."""
        self.waits.reject()
        return PlainTextResponse(translate(self.sentence), 503, headers={"Retry-After": AGAIN})
