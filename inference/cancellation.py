"""When a computation ends before it is done: its time is over, or whoever asked has gone. Asked at each layer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NamedTuple

from attention.cancellation_points import checked_by
from i18n import gettext_lazy
from inference.errors import UserError

GONE = gettext_lazy("This was stopped.")
Progress = Callable[[int, int], object]
LOOK = 0.5  # seconds between two looks at whether one who waits is still there


class Visitor(NamedTuple):
    """For whom something is computed: ``current_visitor`` tells them apart, ``gone`` says whether they have left."""

    who: str
    gone: Callable[[], bool]


class Cancelled(UserError):
    """A computation that was ended; nothing of it is left. Asked again, it begins anew."""

    @property
    def timed_out(self) -> bool:
        """Whether its time was over, which its visitor has to be told."""
        return self.message != GONE

    def copy(self) -> Cancelled:
        """A fresh copy."""
        return Cancelled(self.message, way_out=self.way_out, details=self.details)


class CancelToken:
    """The end of what one visitor asks for: after ``seconds``, when ``gone`` says so, or when ``stop`` is called.

    ``current_visitor`` tells visitors apart where several wait in line; ``progress`` is told by the thread that
    computes how many
    layers are done, of how many, or (0, 0) while it waits, and may raise Stopped (``run_in_calling_thread`` takes it
    to the thread that asked). It may be stopped from any thread.

    >>> ends = CancelToken()
    >>> ends.check()
    >>> ends.stop()
    >>> ends.check()
    Traceback (most recent call last):
    inference.cancellation.Cancelled: This was stopped.
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
        """Whoever asked has gone: what is computed ends at its next layer, and what waits leaves its line."""
        with suppress(InvalidStateError):  # it is told once
            self._told.set_result(None)

    def check(self) -> None:
        """Raises Stopped where it is over."""
        if self._told.done() or (self._gone is not None and self._gone()):
            raise Cancelled(GONE)
        if self._until is not None and self._clock() > self._until:
            raise Cancelled(
                gettext_lazy(
                    "This took longer than the {seconds:.0f} seconds that it may take here. Pick a shorter text or a"
                    " smaller model.",
                    seconds=self.seconds,
                ),
                way_out="text",
            )

    def layer(self, done: int, of: int) -> None:
        """``check`` between two layers of a recorded pass, which is told to whoever follows it."""
        self.check()
        self._tell(done, of)

    def _tell(self, done: int, of: int) -> None:
        if self.progress is not None:
            self.progress(done, of)

    def wait(self, future: Future[Any]) -> None:
        """Returns when another thread has found something; raises Stopped where this is over before."""
        while not future.done():
            self.check()
            left = LOOK if self._until is None else min(LOOK, max(0.0, self._until - self._clock()))
            futures.wait((future, self._told), left, futures.FIRST_COMPLETED)
            self._tell(0, 0)


_stop: ContextVar[CancelToken | None] = ContextVar("headlight_stop", default=None)


Hand = Callable[[Callable[[], None]], None]
_hand: ContextVar[Hand | None] = ContextVar("headlight_hand", default=None)

_find_visitor: Callable[[], Visitor | None] = lambda: None  # noqa: E731  # until it is said


def set_visitor_source(finder: Callable[[], Visitor | None]) -> None:
    """From now on ``finder`` says for which visitor a thread computes; None where it is for none."""
    global _find_visitor  # the room that knows visitors stands above this one
    _find_visitor = finder


@contextmanager
def limit_request(seconds: float, progress: Progress | None = None) -> Iterator[None]:
    """What a visitor asks for inside the block ends with them, or after that time. Within another, that one decides;
    where it is asked for no visitor, by a program, it ends by itself. ``progress`` is as Stop takes it.
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
    """What this thread computes inside the block ends as ``stop`` says."""
    token = _stop.set(stop)
    try:
        with checked_by(stop.check):
            yield stop
    finally:
        _stop.reset(token)


def set_handoff(hand: Hand) -> None:
    """From now on this thread computes for another, which waits: ``hand`` has that one do something."""
    _hand.set(hand)


def run_in_calling_thread(work: Callable[[], None]) -> None:
    """Does what only the thread that asked may do, such as to draw on its page; raises what that raises."""
    hand = _hand.get()
    if hand is None:
        work()
    else:
        hand(work)


def current_token() -> CancelToken | None:
    """How what this thread computes ends, where that is said."""
    return _stop.get()


def check() -> None:
    """Raises Stopped where what this thread computes is over."""
    stop = _stop.get()
    if stop is not None:
        stop.check()


def current_visitor() -> str:
    """For whom this thread computes, where that is said."""
    stop = _stop.get()
    return "" if stop is None else stop.who


def layer(done: int, of: int) -> None:
    """The same between two layers of a recorded pass, which is told to whoever follows it."""
    stop = _stop.get()
    if stop is not None:
        stop.layer(done, of)


def wait(future: Future[Any]) -> None:
    """Returns when another thread has found something; raises Stopped where what this thread does is over before."""
    stop = _stop.get()
    if stop is not None:
        stop.wait(future)
    elif not future.done():
        futures.wait((future,))
