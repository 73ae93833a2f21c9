"""Garbage collection while the server is idle.

Streamlit would collect garbage after each script run, which traverses all live objects. (The option
`runner.postScriptGC` is off in .streamlit/config.toml.) That took most of the time of a click and grew with the number
of visitors. Here garbage is collected if no script has run for QUIET seconds. A server that is never idle collects it
after LONGEST seconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic

from inference.loaded_model import release_memory

QUIET = 2.0  # Seconds without a script after which the server counts as idle.
APART = 10.0  # Minimum seconds between collections: each takes some tenths of a second and blocks requests.
LONGEST = 60.0  # Maximum seconds until a collection on a server that is never idle.


class Scripts:
    """The number of running scripts, and the time at which garbage is collected next.

    ``clock`` returns the time in seconds.

    >>> scripts = Scripts(clock=lambda: 5.0)
    >>> scripts.pause() is None
    True
    >>> with scripts.run():
    ...     scripts.pause() == LONGEST
    True
    >>> scripts.pause() == QUIET
    True
    """

    def __init__(self, quiet: float = QUIET, longest: float = LONGEST, clock: Callable[[], float] = monotonic) -> None:
        self._quiet, self._longest, self._clock = quiet, longest, clock
        self._collected = -inf  # Time of the last collection.
        self._change = threading.Condition()
        self._running = 0
        self._ended = -inf  # Time of the last end of a script.
        self._littered: float | None = None  # Start of the first script since the last collection.
        self._watched = False

    @contextmanager
    def run(self) -> Iterator[None]:
        """Inside the block, count a script as running."""
        with self._change:
            self._running += 1
            if self._littered is None:
                self._littered = self._clock()
            self._change.notify_all()
        try:
            yield
        finally:
            with self._change:
                self._running -= 1
                self._ended = self._clock()
                self._change.notify_all()

    def pause(self) -> float | None:
        """Return the seconds until the next collection; 0 or less if the collection is due.

        Return None if no script has run since the last collection.
        """
        if self._littered is None:
            return None
        latest = self._littered + self._longest
        idle = inf if self._running else max(self._ended + self._quiet, self._collected + APART)
        return min(latest, idle) - self._clock()

    def wait_for_rest(self, seconds: float) -> None:
        """Block until no script runs and the last script ended at least ``seconds`` ago.

        >>> Scripts().wait_for_rest(60)  # returns immediately, because no script has run
        """
        with self._change:
            while self._running or (left := self._ended + seconds - self._clock()) > 0:
                self._change.wait(None if self._running else left)

    def should_collect(self) -> bool:
        """Return True if a collection is due, and record it as done."""
        with self._change:
            pause = self.pause()
            if pause is None or pause > 0:
                return False
            self._collected = self._clock()
            self._littered = self._collected if self._running else None
            return True

    @contextmanager
    def collect_while_idle(self, collect: Callable[[], None] = release_memory) -> Iterator[None]:
        """Inside the block, run a thread that collects garbage while no script runs."""
        self._watched = True
        thread = threading.Thread(target=self._collect, args=(collect,), name="idle collection", daemon=True)
        thread.start()
        try:
            yield
        finally:
            with self._change:
                self._watched = False
                self._change.notify_all()
            thread.join()

    def _collect(self, collect: Callable[[], None]) -> None:
        while self._watched:
            if self.should_collect():
                collect()
                continue
            with self._change:
                if self._watched:
                    self._change.wait(self.pause())


SCRIPTS = Scripts()  # The scripts of this process.
