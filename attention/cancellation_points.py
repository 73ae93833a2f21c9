"""Cancellation points of long computations: a registered check is called between blocks of work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


def _goes_on() -> None:
    return


_check: ContextVar[Callable[[], None]] = ContextVar("headlight_break", default=_goes_on)


@contextmanager
def checked_by(check: Callable[[], None]) -> Iterator[None]:
    """Call ``check`` at the cancellation points of this thread inside the block; it raises to cancel."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check() -> None:
    """Call the registered check; without a check this costs 0.1 microseconds."""
    _check.get()()
