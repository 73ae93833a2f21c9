"""What takes long gives way: it hands on its place to short work, and leaves the processor to whoever else wants it.

And where so many wait that the next one would wait for long, that one is told so.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from contextvars import Context, copy_context
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from i18n import gettext_lazy
from inference import cancellation
from inference.errors import UserError
from inference.fair_queue import FairSemaphore

SHORT = 0.2  # seconds of the processor: a text of some hundred tokens takes a tenth of them
RECENT = 16  # works that are most of the mean
LOOK = 0.1  # seconds between two looks at how much it has taken
LONGEST = 20.0  # seconds that somebody is let wait for a place, as far as can be told
BUSY = gettext_lazy("So many ask this server just now that an answer would take long. Your text stays; try again soon.")
NICE = 10  # as trainings have: of a core that others want, it takes a tenth

Made = TypeVar("Made")


class Scheduler(FairSemaphore):
    """A gate of ``places`` for short work, beside which as much may run that has turned out to be long.

    Nothing has to say beforehand how long it will take. What has taken ``short`` seconds of the processor gets a low
    priority for the rest, and somebody else its place, if there is room beside the gate. Only Linux knows priorities of
    single threads; elsewhere this is a gate.

    >>> Scheduler(2).run(lambda: 6 * 7)
    42
    """

    def __init__(self, places: int, short: float = SHORT, longest: float = LONGEST) -> None:
        super().__init__(places)
        self._short, self._longest, self._at_once = short, longest, places
        self._beside = threading.BoundedSemaphore(places)
        self._pace = 0.0  # seconds that a place is held, a mean in which what was lately counts most

    @property
    def expected_wait(self) -> float:
        """Seconds that who comes now would wait, as far as can be told."""
        return self.waits.waiting * self._pace / self._at_once

    def run(self, work: Callable[[], Made]) -> Made:
        """What the work gives, or raises, computed in its turn; raises Refusal where that would be late."""
        if self.expected_wait > self._longest:
            self.waits.reject()
            raise UserError(BUSY, way_out="busy")
        with ExitStack() as place:
            place.enter_context(self)
            place.callback(self._note, monotonic())
            if sys.platform != "linux":
                return work()
            thread = _Thread(work)
            while not thread.has_ended(LOOK):
                if thread.seconds() > self._short:
                    thread.give_way()
                    self._hand_on(thread, place)
            return thread.made.result()

    def _note(self, came: float) -> None:
        self._pace += (monotonic() - came - self._pace) / RECENT

    def _hand_on(self, thread: _Thread[Made], place: ExitStack) -> None:
        """Its place is another's as soon as there is room beside the gate; returns when the work has ended."""
        while not thread.has_ended(0):
            if self._beside.acquire(blocking=False):
                place.close()
                place.callback(self._beside.release)
                while not thread.has_ended():
                    pass
            thread.has_ended(LOOK)


class _Thread(Generic[Made]):
    """Work in a thread of its own: a priority that was lowered is never given back to a thread."""

    def __init__(self, work: Callable[[], Made]) -> None:
        self.made: Future[Made] = Future()
        self._handed: SimpleQueue[Callable[[], None] | None] = SimpleQueue()  # to who waits; None when all is done
        context = copy_context()  # what ends the work is known there
        self._worker = _Worker.free()
        self._before = self._worker.seconds()
        self._worker.takes_up(self, lambda: self._run(context, work))

    def _run(self, context: Context, work: Callable[[], Made]) -> None:
        context.run(cancellation.set_handoff, self._hand)
        try:
            self.made.set_result(context.run(work))
        except BaseException as error:
            self.made.set_exception(error)
        self._handed.put(None)

    def _hand(self, work: Callable[[], None]) -> None:
        """Has who waits do something."""
        done: Future[None] = Future()

        def run_work() -> None:
            try:
                cancellation.run_in_calling_thread(work)
                done.set_result(None)
            except BaseException as error:
                done.set_exception(error)

        self._handed.put(run_work)
        done.result()

    def has_ended(self, seconds: float | None = None) -> bool:
        """Whether it has, after that time at most, in which at most one thing is done that it handed back."""
        if not self.made.done():
            with suppress(Empty):
                handed = self._handed.get(timeout=seconds)
                if handed is not None:
                    handed()
        return self.made.done()

    def seconds(self) -> float:
        """Of the processor, so far."""
        return self._worker.seconds() - self._before

    def give_way(self) -> None:
        """Others come first from now on."""
        self._worker.give_way(self)


class _Worker:
    """A thread that takes up one work after the other until its priority is lowered: to begin one costs more than a
    short text does, since the libraries that compute prepare themselves for each.
    """

    _idle: ClassVar[SimpleQueue[_Worker]] = SimpleQueue()

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._doing: object = None  # for whom; None while it is free
        self._spent = False
        thread = threading.Thread(target=self._run, name="answer", daemon=True)
        thread.start()
        assert thread.native_id is not None  # it has begun
        self._id = thread.native_id

    @classmethod
    def free(cls) -> _Worker:
        """One that does nothing now."""
        try:
            return cls._idle.get_nowait()
        except Empty:
            return cls()

    def takes_up(self, whose: object, work: Callable[[], None]) -> None:
        """Begins a work, which is known as ``whose``."""
        self._doing = whose
        self._work.put(work)

    def _run(self) -> None:
        while not self._spent:
            self._work.get()()
            with self._lock:
                self._doing = None
                if not self._spent:
                    self._idle.put(self)

    def seconds(self) -> float:
        """Of the processor, since it began."""
        with suppress(OSError):  # it has ended meanwhile
            fields = Path(f"/proc/self/task/{self._id}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def give_way(self, whose: object) -> None:
        """Has a low priority from now on, and takes up nothing more; if this work is not done meanwhile."""
        with self._lock:
            if self._doing is whose:
                self._spent = True
                os.setpriority(os.PRIO_PROCESS, self._id, os.getpriority(os.PRIO_PROCESS, self._id) + NICE)
