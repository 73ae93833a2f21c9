"""Garbage is collected while nobody waits for an answer.

Streamlit would collect it after every script run (`runner.postScriptGC`, off in .streamlit/config.toml), and look
through all that was ever imported and made each time: most of what a click cost, and more with every visitor. Here it
is collected once no script has run for QUIET seconds, and after LONGEST seconds where some script always runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic

from inference.load.loading import release_memory

QUIET = 2.0  # seconds without a script after which nobody is expected to ask again at once
APART = 10.0  # seconds between two collections: one takes some tenths of a second, and a reader who comes then waits
LONGEST = 60.0  # seconds that what a script left behind may lie about on a server that is never quiet


class Scripts:
    """Which scripts run, and when what they left behind is to be collected. ``clock`` tells seconds.

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
        self._collected = -inf  # when garbage was last collected
        self._change = threading.Condition()
        self._running = 0
        self._ended = clock()  # when a script last ended
        self._littered: float | None = None  # when the first script since the last collection began
        self._watched = False

    @contextmanager
    def run(self) -> Iterator[None]:
        """A script runs while the block does, however that ends."""
        with self._change:
            self._running += 1
            if self._littered is None:
                self._littered = self._clock()
            self._change.notify()
        try:
            yield
        finally:
            with self._change:
                self._running -= 1
                self._ended = self._clock()
                self._change.notify()

    def pause(self) -> float | None:
        """Seconds until garbage is to be collected, at most 0 where that is now; None where no script left any."""
        if self._littered is None:
            return None
        latest = self._littered + self._longest
        idle = inf if self._running else max(self._ended + self._quiet, self._collected + APART)
        return min(latest, idle) - self._clock()

    def should_collect(self) -> bool:
        """Whether garbage is to be collected now; it is then taken as done."""
        with self._change:
            pause = self.pause()
            if pause is None or pause > 0:
                return False
            self._collected = self._clock()
            self._littered = self._collected if self._running else None
            return True

    @contextmanager
    def collect_while_idle(self, collect: Callable[[], None] = release_memory) -> Iterator[None]:
        """Collect as said while the block runs, in a thread that ends with it."""
        self._watched = True
        thread = threading.Thread(target=self._collect, args=(collect,), name="idle collection", daemon=True)
        thread.start()
        try:
            yield
        finally:
            with self._change:
                self._watched = False
                self._change.notify()
            thread.join()

    def _collect(self, collect: Callable[[], None]) -> None:
        while self._watched:
            if self.should_collect():
                collect()
                continue
            with self._change:
                if self._watched:
                    self._change.wait(self.pause())


SCRIPTS = Scripts()  # those of this process
