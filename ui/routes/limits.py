"""Limits on routes: language, clients that disconnect, and files at the same time."""

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
from ui.server.guard import names_of
from ui.state.language import ADDRESS


def use_request_language(request: Request) -> AbstractContextManager[None]:
    """Within it, what is said is in the language that the address names (`in_language`), else English."""
    return use_language(request.query_params.get(ADDRESS, ENGLISH))


def in_language() -> str:
    """What an address ends with, so that what is served there is told as here; nothing where that is English.

    >>> in_language()
    ''
    """
    return "" if active_language() == ENGLISH else f"&{ADDRESS}={active_language()}"


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


AGAIN = "10"  # seconds after which to ask again, for programs


class ConcurrencyLimit:
    """``at_once`` files at a time and ``waiting`` more in line; who comes then is told ``sentence`` with 503.

    So is who has ``each`` there already, by any of their names, where that is said.
    """

    def __init__(self, at_once: int, waiting: int, sentence: str, each: int | None = None) -> None:
        self.each = each
        self._names: Counter[str] = Counter()
        self._threads = FairThreadPool(at_once, "files")
        self.places = threading.BoundedSemaphore(at_once + waiting)
        self.sentence = sentence
        self.waits = QueueStats()

    def endpoint(self, make: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
        """A route's endpoint that makes its answer in one of these places."""

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
                self._names += Counter()  # who has none is forgotten

        return endpoint

    def _has_enough(self, names: tuple[str, ...]) -> bool:
        """Whether somebody has their share of the line. Asked, and counted, on the event loop alone."""
        return self.each is not None and any(self._names[name] >= self.each for name in names)

    def hold_place(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """The same blocks, a place held until the last is taken; nothing where no place is free."""
        if not self.places.acquire(blocking=False):
            return
        try:
            yield from blocks
        finally:
            self.places.release()

    def busy_response(self) -> Response:
        """What is answered where no place is free."""
        self.waits.reject()
        return PlainTextResponse(translate(self.sentence), 503, headers={"Retry-After": AGAIN})
