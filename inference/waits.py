"""Who waits for what is done a few at a time, and how long: an operator then sees where it is crowded."""

from __future__ import annotations

import threading
from time import perf_counter


class Waits:
    """Counts of one line: who stands in it now, who was let through after how many seconds together, who was not.

    >>> line = Waits()
    >>> came = line.comes()
    >>> line.waiting, line.passed
    (1, 0)
    >>> line.passes(came)
    >>> line.waiting, line.passed, line.seconds >= 0
    (0, 1, True)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.waiting = 0
        self.passed = 0
        self.seconds = 0.0
        self.refused = 0

    def comes(self) -> float:
        """Somebody stands in line; what this returns is handed to ``passes``."""
        with self._lock:
            self.waiting += 1
        return perf_counter()

    def passes(self, came: float) -> None:
        """Who came then is let through."""
        with self._lock:
            self.waiting -= 1
            self.passed += 1
            self.seconds += perf_counter() - came

    def turns_away(self) -> None:
        """Somebody was not let into the line."""
        with self._lock:
            self.refused += 1


class Gate:
    """At most ``places`` at a time are within it; the others wait.

    >>> gate = Gate(2)
    >>> with gate:
    ...     gate.waits.passed
    1
    """

    def __init__(self, places: int) -> None:
        self._places = threading.BoundedSemaphore(places)
        self.waits = Waits()

    def __enter__(self) -> None:
        came = self.waits.comes()
        self._places.acquire()
        self.waits.passes(came)

    def __exit__(self, *_error: object) -> None:
        self._places.release()
