"""Work that waits its turn: so much at a time, so much in line, and nothing more; who leaves is taken out of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from inference.stops import Stop, ending
from inference.waits import Crew, Waits

Made = TypeVar("Made")


class Full(Exception):
    """Nobody more is let into the line now."""


class Line:
    """``places`` threads work; with those that wait, no more than ``most`` are inside.

    They are taken up in turn by visitor. What has begun counts as inside until it has ended, which it does at its next
    layer when nobody waits for it any more (inference.stops).
    """

    def __init__(self, places: int, most: int) -> None:
        self.most = most
        self.waits = Waits()
        self._crew = Crew(places, "answering")
        self._lock = threading.Lock()
        self._inside = 0

    @property
    def full(self) -> bool:
        """Whether nobody more is let in."""
        return self._inside >= self.most

    @property
    def busy(self) -> bool:
        """Whether anybody is inside."""
        return self._inside > 0

    async def run(self, work: Callable[[], Made], who: str = "") -> Made:
        """What the work gives, in its visitor's turn; raises Full. Cancelled, it ends, or is never begun."""
        with self._lock:
            if self._inside >= self.most:
                self.waits.turns_away()
                raise Full
            self._inside += 1
        came = self.waits.comes()
        stop = Stop(who)

        def stoppable() -> Made:
            with ending(stop):
                return work()

        future = self._crew.submit(who, stoppable)
        future.add_done_callback(lambda done: self._leaves(done, came))
        try:
            return await asyncio.wrap_future(future)
        finally:
            stop.stop()

    def _leaves(self, _done: Future[Any], came: float) -> None:
        with self._lock:
            self._inside -= 1
        self.waits.passes(came)

    def close(self) -> None:
        """Ends the threads as they come free."""
        self._crew.close()
