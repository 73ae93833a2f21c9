"""Cancellation of computations, by a time limit or because the visitor left; it is checked between layers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NamedTuple

from attention.record import checked_by
from i18n import gettext_lazy
from inference.errors import UserError

GONE = gettext_lazy("Stopped.")
Progress = Callable[[int, int], object]
LOOK = 0.5  # seconds between two checks that a waiting visitor is still connected


class Visitor(NamedTuple):
    """A visitor: an identifier, and a function that returns True once the visitor has left the page."""

    who: str
    gone: Callable[[], bool]


class Cancelled(UserError):
    """Raised if a computation was cancelled.

    Partial results are discarded; a new request starts from the beginning.
    """

    @property
    def timed_out(self) -> bool:
        """Return True if the time limit passed; False if the visitor left or stopped the work."""
        return self.message != GONE

    def copy(self) -> Cancelled:
        """Return a copy without the traceback."""
        return Cancelled(self.message, way_out=self.way_out, details=self.details)


class CancelToken:
    """A token that cancels a request: after ``seconds``, if the visitor leaves, or if ``stop`` is called.

    ``gone`` returns True once the visitor has left. ``who`` identifies the visitor in fair queues. Any thread may call
    ``stop``. The computing thread calls ``progress`` with the number of finished layers and their total, or with (0, 0)
    while it waits; ``progress`` may raise Cancelled.

    >>> ends = CancelToken()
    >>> ends.check()
    >>> ends.stop()
    >>> ends.check()
    Traceback (most recent call last):
    inference.cancellation.Cancelled: Stopped.
    """

    def __init__(
        self,
        who: str = "",
        seconds: float | None = None,
        *,
        gone: Callable[[], bool] | None = None,
        progress: Progress | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.who, self.seconds, self.progress = who, seconds, progress
        self._gone, self._clock = gone, clock
        self._until = None if seconds is None else clock() + seconds
        self._told: Future[None] = Future()

    def stop(self) -> None:
        """Cancel the computation before its next layer; a request that still waits leaves its queue."""
        with suppress(InvalidStateError):  # the future can be resolved only once
            self._told.set_result(None)

    def check(self) -> None:
        """Raise Cancelled if the visitor left, ``stop`` was called or the time limit passed."""
        if self._told.done() or (self._gone is not None and self._gone()):
            raise Cancelled(GONE)
        if self._until is not None and self._clock() > self._until:
            raise Cancelled(
                gettext_lazy(
                    "This took over {seconds:.0f} seconds. Pick a shorter text or smaller model.",
                    seconds=self.seconds,
                ),
                way_out="text",
            )

    def layer(self, done: int, of: int) -> None:
        """Report that ``done`` of ``of`` layers are finished; raise Cancelled if the request is cancelled."""
        self.check()
        self._tell(done, of)

    def _tell(self, done: int, of: int) -> None:
        if self.progress is not None:
            self.progress(done, of)

    def wait(self, future: Future[Any]) -> None:
        """Block until ``future`` is done; raise Cancelled if the token is cancelled first."""
        while not future.done():
            self.check()
            left = LOOK if self._until is None else min(LOOK, max(0.0, self._until - self._clock()))
            futures.wait((future, self._told), left, futures.FIRST_COMPLETED)
            self._tell(0, 0)


_stop: ContextVar[CancelToken | None] = ContextVar("headlight_stop", default=None)


Hand = Callable[[Callable[[], None]], None]
_hand: ContextVar[Hand | None] = ContextVar("headlight_hand", default=None)

_find_visitor: Callable[[], Visitor | None] = lambda: None  # noqa: E731  # set_visitor_source replaces it


def set_visitor_source(finder: Callable[[], Visitor | None]) -> None:
    """Register the function that returns the visitor of the current thread, or None if there is none."""
    global _find_visitor  # registered, because inference must not import the code that knows visitors
    _find_visitor = finder


@contextmanager
def limit_request(seconds: float, progress: Progress | None = None) -> Iterator[None]:
    """Inside the block, cancel the work if the visitor leaves or ``seconds`` pass.

    In nested blocks, only the limit of the outermost block applies. Without a visitor, as in a program, there is no
    limit. ``progress`` is passed to the CancelToken.
    """
    visitor = _find_visitor() if _stop.get() is None else None
    if visitor is None:
        yield
        return
    with use_token(CancelToken(visitor.who, seconds, gone=visitor.gone, progress=progress)):
        check()
        yield


@contextmanager
def use_token(stop: CancelToken) -> Iterator[CancelToken]:
    """Inside the block, use ``stop`` as the cancellation token of this thread."""
    token = _stop.set(stop)
    try:
        with checked_by(stop.check):
            yield stop
    finally:
        _stop.reset(token)


def set_handoff(hand: Hand) -> None:
    """Register ``hand``, the function that runs a call in the thread that waits for this worker thread.

    ``run_in_calling_thread`` uses it.
    """
    _hand.set(hand)


def run_in_calling_thread(work: Callable[[], None]) -> None:
    """Run ``work`` in the thread that made the request and waits for this thread, for example to draw progress.

    Exceptions of ``work`` are raised here.
    """
    hand = _hand.get()
    if hand is None:
        work()
    else:
        hand(work)


def current_token() -> CancelToken | None:
    """Return the cancellation token of this thread, or None."""
    return _stop.get()


def check() -> None:
    """Raise Cancelled if this thread's computation was cancelled."""
    stop = _stop.get()
    if stop is not None:
        stop.check()


def current_visitor() -> str:
    """Return the identifier of the visitor for whom this thread computes, or ""."""
    stop = _stop.get()
    return "" if stop is None else stop.who


def layer(done: int, of: int) -> None:
    """Report that this thread has finished ``done`` of ``of`` layers; raise Cancelled if its request was cancelled."""
    stop = _stop.get()
    if stop is not None:
        stop.layer(done, of)


def wait(future: Future[Any]) -> None:
    """Block until ``future`` is done; raise Cancelled if this thread's computation is cancelled first."""
    stop = _stop.get()
    if stop is not None:
        stop.wait(future)
    elif not future.done():
        futures.wait((future,))
