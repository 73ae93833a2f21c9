"""Who computes when: fair queues by visitor, and long work that gives way to short work."""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from contextvars import Context, copy_context
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic, perf_counter
from typing import Any, ClassVar, Generic, TypeVar

from i18n import gettext_lazy
from inference import cancellation
from inference.errors import UserError

Item = TypeVar("Item")
Made = TypeVar("Made")


class QueueStats:
    """Counts of one line: who stands in it now, who was let through after how many seconds together, who was not.

    >>> line = QueueStats()
    >>> came = line.enter()
    >>> line.waiting, line.passed
    (1, 0)
    >>> line.admit(came)
    >>> line.waiting, line.passed, line.seconds >= 0
    (0, 1, True)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.waiting = 0
        self.passed = 0
        self.seconds = 0.0
        self.refused = 0

    def enter(self) -> float:
        """Somebody stands in line; what this returns is handed to ``admit``."""
        with self._lock:
            self.waiting += 1
        return perf_counter()

    def admit(self, came: float) -> None:
        """Who came then is let through."""
        with self._lock:
            self.waiting -= 1
            self.passed += 1
            self.seconds += perf_counter() - came

    def leave(self) -> None:
        """Somebody who stood in line has gone."""
        with self._lock:
            self.waiting -= 1

    def reject(self) -> None:
        """Somebody was not let into the line."""
        with self._lock:
            self.refused += 1


class RoundRobinQueue(Generic[Item]):
    """What stands in line, taken in turn by visitor: who has twenty things there holds up nobody who has one.

    Not locked: whoever has it locks it.

    >>> line = RoundRobinQueue[str]()
    >>> for who, item in [("ann", "a1"), ("ann", "a2"), ("ann", "a3"), ("bob", "b1")]:
    ...     line.add(who, item)
    >>> [line.pop() for _ in range(5)]
    ['a1', 'b1', 'a2', 'a3', None]
    """

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[Item]] = OrderedDict()  # whose turn is next stands first

    def add(self, who: str, item: Item) -> None:
        """It stands behind what they have there."""
        self._lines.setdefault(who, deque()).append(item)

    def pop(self) -> Item | None:
        """What is next; None where nothing is."""
        if not self._lines:
            return None
        who, line = next(iter(self._lines.items()))
        item = line.popleft()
        if line:
            self._lines.move_to_end(who)
        else:
            del self._lines[who]
        return item

    def remove(self, who: str, item: Item) -> bool:
        """It stands there no more; whether it did."""
        line = self._lines.get(who, deque())
        if item not in line:
            return False
        line.remove(item)
        if not line:
            del self._lines[who]
        return True


class FairThreadPool:
    """``places`` threads that take up work in turn by visitor.

    >>> crew = FairThreadPool(1, "counting")
    >>> crew.submit("ann", lambda: 1 + 1).result()
    2
    """

    def __init__(self, places: int, name: str) -> None:
        self._threads = ThreadPoolExecutor(places, name)
        self._lock = threading.Lock()
        self._turns: RoundRobinQueue[tuple[Future[Any], Callable[[], Any]]] = RoundRobinQueue()

    def submit(self, who: str, work: Callable[[], Made]) -> Future[Made]:
        """What will hold what the work gives; cancelled before its turn, it is never begun."""
        future: Future[Made] = Future()
        with self._lock:
            self._turns.add(who, (future, work))
        self._threads.submit(self._next)  # one for each that stands in line, whichever it takes
        return future

    def close(self) -> None:
        """Ends the threads as they come free; nothing more is begun."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _next(self) -> None:
        with self._lock:
            taken = self._turns.pop()
        if taken is None or not taken[0].set_running_or_notify_cancel():
            return
        future, work = taken
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)


class FairSemaphore:
    """At most ``places`` at a time are within it; the others wait, and come in turn by visitor.

    Who waits leaves the line when what it computes for is over (inference.cancellation), and is told Stopped.

    >>> gate = FairSemaphore(2)
    >>> with gate:
    ...     gate.waits.passed
    1
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._lock = threading.Lock()
        self._turns: RoundRobinQueue[Future[None]] = RoundRobinQueue()
        self.waits = QueueStats()

    def __enter__(self) -> None:
        came = self.waits.enter()
        who, turn = cancellation.current_visitor(), Future[None]()
        with self._lock:
            self._turns.add(who, turn)
            self._admit()
        try:
            cancellation.wait(turn)
        except BaseException:
            self._gives_up(who, turn)
            raise
        self.waits.admit(came)

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._free += 1
            self._admit()

    def _admit(self) -> None:
        """Lets in who is next, while there is room."""
        while self._free and (turn := self._turns.pop()) is not None:
            self._free -= 1
            turn.set_result(None)

    def _gives_up(self, who: str, turn: Future[None]) -> None:
        self.waits.leave()
        with self._lock:
            if not self._turns.remove(who, turn):  # let in just now: for the next one
                self._free += 1
                self._admit()


SHORT = 0.2  # seconds of the processor: a text of some hundred tokens takes a tenth of them
RECENT = 16  # works that are most of the mean
LOOK = 0.1  # seconds between two looks at how much it has taken
LONGEST = 20.0  # seconds that somebody is let wait for a place, as far as can be told
BUSY = gettext_lazy("So many ask this server just now that an answer would take long. Your text stays; try again soon.")
NICE = 10  # as trainings have: of a core that others want, it takes a tenth


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
