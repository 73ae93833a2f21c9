"""How many files are made or sent at the same time: others wait without holding a thread, or are told to come again.

A file may take much memory and seconds. The threads that answer pages are few and shared; files have their own, which
take them up in turn by visitor.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from i18n import translate
from inference.cancellation import CancelToken
from inference.fair_queue import FairThreadPool, QueueStats
from ui.routes.cancellation import reading, run_within
from ui.routes.request_language import use_request_language
from ui.run.services import get_backend
from ui.server.client import names_of

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
