"""What takes long gives way: it hands on its place to short work, and leaves the processor to whoever else wants it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from contextvars import Context, copy_context
from pathlib import Path
from typing import Generic, TypeVar

from inference.waits import Gate

SHORT = 0.2  # seconds of the processor: a text of some hundred tokens takes a tenth of them
LOOK = 0.1  # seconds between two looks at how much it has taken
NICE = 10  # as trainings have: of a core that others want, it takes a tenth

Made = TypeVar("Made")


class Lanes(Gate):
    """A gate of ``places`` for short work, beside which as much may run that has turned out to be long.

    Nothing has to say beforehand how long it will take. What has taken ``short`` seconds of the processor gets a low
    priority for the rest, and somebody else its place, if there is room beside the gate. Only Linux knows priorities of
    single threads; elsewhere this is a gate.

    >>> Lanes(2).run(lambda: 6 * 7)
    42
    """

    def __init__(self, places: int, short: float = SHORT) -> None:
        super().__init__(places)
        self._short = short
        self._beside = threading.BoundedSemaphore(places)

    def run(self, work: Callable[[], Made]) -> Made:
        """What the work gives, or raises, computed in its turn."""
        with ExitStack() as place:
            place.enter_context(self)
            if sys.platform != "linux":
                return work()
            thread = _Thread(work)
            while not thread.ended(LOOK):
                if thread.seconds() > self._short:
                    thread.give_way()
                    self._hand_on(thread, place)
            return thread.made.result()

    def _hand_on(self, thread: _Thread[Made], place: ExitStack) -> None:
        """Its place is another's as soon as there is room beside the gate; returns when the work has ended."""
        while not thread.ended(0):
            if self._beside.acquire(blocking=False):
                place.close()
                place.callback(self._beside.release)
                thread.ended()
            thread.ended(LOOK)


class _Thread(Generic[Made]):
    """Work in a thread of its own: a priority that was lowered is never given back to a thread."""

    def __init__(self, work: Callable[[], Made]) -> None:
        self.made: Future[Made] = Future()
        context = copy_context()  # what ends the work is known there
        self._thread = threading.Thread(target=self._run, args=(context, work), name="answer", daemon=True)
        self._thread.start()
        assert self._thread.native_id is not None  # it has begun
        self._id = self._thread.native_id

    def _run(self, context: Context, work: Callable[[], Made]) -> None:
        try:
            self.made.set_result(context.run(work))
        except BaseException as error:
            self.made.set_exception(error)

    def ended(self, seconds: float | None = None) -> bool:
        """Whether it has, after that time at most."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def seconds(self) -> float:
        """Of the processor, so far."""
        with suppress(OSError):  # it has ended meanwhile
            fields = Path(f"/proc/self/task/{self._id}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def give_way(self) -> None:
        """Others come first from now on."""
        with suppress(OSError):  # it has ended meanwhile
            os.setpriority(os.PRIO_PROCESS, self._id, os.getpriority(os.PRIO_PROCESS, self._id) + NICE)
