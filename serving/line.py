"""Work that waits its turn: so much at a time, so much in line, and nothing more; who leaves is taken out of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from inference.waits import Waits

Made = TypeVar("Made")


class Full(Exception):
    """Nobody more is let into the line now."""


class Line:
    """``places`` threads work; with those that wait, no more than ``most`` are inside.

    What has begun is brought to its end even when nobody waits for it: a forward pass knows no way back, and what it
    gave is kept for the one who asks again. It counts as inside until then.
    """

    def __init__(self, places: int, most: int) -> None:
        self.most = most
        self.waits = Waits()
        self._pool = ThreadPoolExecutor(places, thread_name_prefix="answering")
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

    async def run(self, work: Callable[[], Made]) -> Made:
        """What the work gives, in its turn; raises Full. Cancelled while it waits, the work is never begun."""
        with self._lock:
            if self._inside >= self.most:
                self.waits.turns_away()
                raise Full
            self._inside += 1
        came = self.waits.comes()
        future: Future[Made] = self._pool.submit(work)
        future.add_done_callback(lambda done: self._leaves(done, came))
        return await asyncio.wrap_future(future)

    def _leaves(self, _done: Future[Any], came: float) -> None:
        with self._lock:
            self._inside -= 1
        self.waits.passes(came)

    def close(self) -> None:
        """Ends the threads as they come free."""
        self._pool.shutdown(wait=False, cancel_futures=True)
