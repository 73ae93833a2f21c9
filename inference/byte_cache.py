"""A cache bounded by bytes, shared by threads: the least recently used goes first, and nothing is made twice."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

from inference import cancellation
from inference.cancellation import Cancelled
from inference.errors import UserError

Value = TypeVar("Value")


class ByteLru(Generic[Value]):
    """Values by key, together at most ``budget`` bytes, evicted least recently used first.

    Making a value holds no lock, so that a slow one never delays others; callers who ask for a key while it is being
    made wait for that one making; where it was stopped, one of them makes it. A value larger than the budget is kept
    alone until the next one comes: dropping it would have it made again each time it is asked for.

    >>> cache = ByteLru(10)
    >>> cache.get_or_make("a", lambda: "aaaa", len), cache.get("a"), cache.nbytes
    ('aaaa', 'aaaa', 4)
    """

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._making: dict[Hashable, Future[Value]] = {}
        self._bytes = 0
        self.hits = self.additions = self.evictions = 0  # since the start

    @property
    def nbytes(self) -> int:
        """Bytes kept now."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def get(self, key: Hashable) -> Value | None:
        """The value if it is kept, which makes it the most recently used; else None."""
        with self._lock:
            if key not in self._kept:
                return None
            return self._used(key)

    def put(self, key: Hashable, value: Value, nbytes: int) -> None:
        """Keeps a value and evicts others until the budget holds, or nothing else is left."""
        with self._lock:
            self.additions += key not in self._kept
            self._drop(key)
            self._trim(max(0, self.budget - nbytes))
            self._kept[key] = (value, nbytes)
            self._bytes += nbytes

    def drop(self, key: Hashable, value: Value) -> None:
        """Forgets a value that is of no use any more, if it is still the one that is kept."""
        with self._lock:
            if key in self._kept and self._kept[key][0] is value:
                self._drop(key)

    def make_room(self, nbytes: int) -> None:
        """Evicts until that many more bytes fit, so that the old and the new are not both in memory."""
        with self._lock:
            self._trim(max(0, self.budget - nbytes))

    def is_pending(self, key: Hashable) -> bool:
        """Whether the value is being made now."""
        return key in self._making

    def get_or_make(self, key: Hashable, make: Callable[[], Value], size: Callable[[Value], int]) -> Value:
        """The kept value, or what ``make`` returns, made by one caller for all who wait.

        Raises what ``make`` raises, in every waiting thread; the next call tries again.
        """
        while True:
            with self._lock:
                if key in self._kept:
                    return self._used(key)
                future = self._making.get(key)
                mine = future is None
                if future is None:
                    future = self._making[key] = Future()
            if mine:
                self._make(key, make, size, future)
                return future.result()
            cancellation.wait(future)
            error = future.exception()
            if error is None:
                return future.result()
            if isinstance(error, Cancelled) or not isinstance(error, Exception):
                continue  # who made it was stopped, which is no matter of those who waited for it
            if isinstance(error, UserError):
                raise error.copy() from error
            raise error

    def _make(
        self, key: Hashable, make: Callable[[], Value], size: Callable[[Value], int], future: Future[Value]
    ) -> None:
        try:
            value = make()
            self.put(key, value, size(value))
        except BaseException as error:
            with self._lock:
                del self._making[key]
            future.set_exception(error)
            return
        with self._lock:
            del self._making[key]
        future.set_result(value)

    def _used(self, key: Hashable) -> Value:
        self.hits += 1
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def _drop(self, key: Hashable) -> None:
        if key in self._kept:
            self._bytes -= self._kept.pop(key)[1]

    def _trim(self, budget: int) -> None:
        while self._bytes > budget:
            self._drop(next(iter(self._kept)))
            self.evictions += 1
