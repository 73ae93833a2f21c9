"""A thread-safe least-recently-used cache bounded by bytes that computes each missing value only once."""

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
    """A cache that holds at most ``budget`` bytes and evicts the least recently used values first.

    No lock is held while a value is computed, so a slow computation does not delay other keys. Callers that ask
    for a key during its computation wait for the result; if the computation was cancelled, one of the callers
    computes the value instead. A value larger than the budget is kept, without any other value, until the next
    value is added; otherwise it would be recomputed on each request.

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
        self.hits = self.additions = self.evictions = 0  # counted since the cache was created

    @property
    def nbytes(self) -> int:
        """Return the number of bytes in the cache."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def get(self, key: Hashable) -> Value | None:
        """Return the cached value and mark it as most recently used; return None if the key is missing."""
        with self._lock:
            if key not in self._kept:
                return None
            return self._used(key)

    def put(self, key: Hashable, value: Value, nbytes: int) -> None:
        """Add a value; evict other values until the total fits the budget or no other value is left."""
        with self._lock:
            self.additions += key not in self._kept
            self._drop(key)
            self._trim(max(0, self.budget - nbytes))
            self._kept[key] = (value, nbytes)
            self._bytes += nbytes

    def drop(self, key: Hashable, value: Value) -> None:
        """Remove a key if its cached value is still ``value``."""
        with self._lock:
            if key in self._kept and self._kept[key][0] is value:
                self._drop(key)

    def make_room(self, nbytes: int) -> None:
        """Evict values until ``nbytes`` more bytes fit, so that adding a value never exceeds the budget."""
        with self._lock:
            self._trim(max(0, self.budget - nbytes))

    def is_pending(self, key: Hashable) -> bool:
        """Return True while a thread computes the value of a key."""
        return key in self._making

    def get_or_make(self, key: Hashable, make: Callable[[], Value], size: Callable[[Value], int]) -> Value:
        """Return the cached value; if it is missing, call ``make`` in a single thread and cache the result.

        ``size`` returns the bytes of a value. An exception of ``make`` is raised in every waiting thread, and the next
        call tries again. If the thread that runs ``make`` is cancelled, one of the waiting threads calls ``make``.
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
                continue  # a cancelled thread must not fail the threads that waited for its result
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
