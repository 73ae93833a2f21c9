"""Work that waits its turn: so much at a time, so much in line, and nothing more; who leaves is taken out of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from inference.cancellation import CancelToken, use_token
from inference.fair_queue import FairThreadPool, QueueStats

Made = TypeVar("Made")


class QueueFull(Exception):
    """Nobody more is let into the line now."""


class WorkQueue:
    """``places`` threads work; with those that wait, no more than ``most`` are inside.

    They are taken up in turn by visitor. What has begun counts as inside until it has ended, which it does at its next
    layer when nobody waits for it any more (inference.cancellation).
    """

    def __init__(self, places: int, most: int) -> None:
        self.most = most
        self.waits = QueueStats()
        self._crew = FairThreadPool(places, "answering")
        self._lock = threading.Lock()
        self._inside = 0

    @property
    def is_full(self) -> bool:
        """Whether nobody more is let in."""
        return self._inside >= self.most

    @property
    def is_busy(self) -> bool:
        """Whether anybody is inside."""
        return self._inside > 0

    async def run(self, work: Callable[[], Made], who: str = "") -> Made:
        """What the work gives, in its visitor's turn; raises Full. Cancelled, it ends, or is never begun."""
        with self._lock:
            if self._inside >= self.most:
                self.waits.reject()
                raise QueueFull
            self._inside += 1
        came = self.waits.enter()
        stop = CancelToken(who)

        def stoppable() -> Made:
            with use_token(stop):
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
        self.waits.admit(came)

    def close(self) -> None:
        """Ends the threads as they come free."""
        self._crew.close()
