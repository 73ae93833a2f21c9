"""Fair scheduling of computations: visitors in turn, short work before long work, and a single BLAS thread."""

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
    """Statistics of a queue: numbers of waiting, admitted and rejected visitors, and total waiting time in seconds.

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
        """Count a visitor who begins to wait; return the time, to be passed to ``admit``."""
        with self._lock:
            self.waiting += 1
        return perf_counter()

    def admit(self, came: float) -> None:
        """Count the visitor who entered at ``came`` as admitted, and add the wait in seconds."""
        with self._lock:
            self.waiting -= 1
            self.passed += 1
            self.seconds += perf_counter() - came

    def leave(self) -> None:
        """Count a visitor who left the queue without admission."""
        with self._lock:
            self.waiting -= 1

    def reject(self) -> None:
        """Count a visitor who was refused entry to the queue."""
        with self._lock:
            self.refused += 1


class RoundRobinQueue(Generic[Item]):
    """A queue that returns an item of each visitor in turn.

    A visitor with many items does not delay the items of other visitors. The queue is not locked; its owner must lock
    it.

    >>> line = RoundRobinQueue[str]()
    >>> for who, item in [("ann", "a1"), ("ann", "a2"), ("ann", "a3"), ("bob", "b1")]:
    ...     line.add(who, item)
    >>> [line.pop() for _ in range(5)]
    ['a1', 'b1', 'a2', 'a3', None]
    """

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[Item]] = OrderedDict()  # the visitor whose turn is next comes first

    def add(self, who: str, item: Item) -> None:
        """Add an item behind the other items of visitor ``who``."""
        self._lines.setdefault(who, deque()).append(item)

    def pop(self) -> Item | None:
        """Remove and return the next item; return None if the queue is empty."""
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
        """Remove an item of a visitor; return False if it is not in the queue."""
        line = self._lines.get(who, deque())
        if item not in line:
            return False
        line.remove(item)
        if not line:
            del self._lines[who]
        return True


class FairThreadPool:
    """A pool of ``places`` threads that runs the visitors' functions in turn.

    >>> crew = FairThreadPool(1, "counting")
    >>> crew.submit("ann", lambda: 1 + 1).result()
    2
    """

    def __init__(self, places: int, name: str) -> None:
        self._threads = ThreadPoolExecutor(places, name)
        self._lock = threading.Lock()
        self._turns: RoundRobinQueue[tuple[Future[Any], Callable[[], Any]]] = RoundRobinQueue()

    def submit(self, who: str, work: Callable[[], Made]) -> Future[Made]:
        """Queue ``work`` and return its future; work that is cancelled before its turn never starts."""
        future: Future[Made] = Future()
        with self._lock:
            self._turns.add(who, (future, work))
        self._threads.submit(self._next)  # a call for each queued item; the queue decides which item each call takes
        return future

    def close(self) -> None:
        """Shut the threads down as they become free; queued work does not start."""
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
    """A semaphore of ``places`` that admits waiting visitors in turn.

    If a waiting visitor's computation is cancelled (inference.cancellation), the visitor leaves the queue, and entering
    raises Cancelled.

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
        """Admit waiting visitors while places are free."""
        while self._free and (turn := self._turns.pop()) is not None:
            self._free -= 1
            turn.set_result(None)

    def _gives_up(self, who: str, turn: Future[None]) -> None:
        self.waits.leave()
        with self._lock:
            if not self._turns.remove(who, turn):  # it was admitted just before, so pass the place on
                self._free += 1
                self._admit()


SHORT = 0.2  # CPU seconds after which work counts as long; a short text takes a tenth of that
RECENT = 16  # the number of recent runs that dominate the moving average
LOOK = 0.1  # seconds between two checks of the CPU time
LONGEST = 20.0  # seconds of expected wait above which new work is refused
BUSY = gettext_lazy("The server is busy. Try again soon.")
NICE = 10  # added niceness, as for trainings: on a contested core such work gets a tenth of the time


class Scheduler(FairSemaphore):
    """A semaphore with ``places`` for short work, and as many extra places for long work.

    The duration of the work need not be known beforehand. After ``short`` seconds of CPU time, the work gets a lower
    priority. As soon as an extra place is free, the work moves there, and its place is given to other work. Only Linux
    has priorities for single threads; on other systems this class is a plain semaphore.

    >>> Scheduler(2).run(lambda: 6 * 7)
    42
    """

    def __init__(self, places: int, short: float = SHORT, longest: float = LONGEST) -> None:
        super().__init__(places)
        self._short, self._longest, self._at_once = short, longest, places
        self._beside = threading.BoundedSemaphore(places)
        self._pace = 0.0  # moving average of the seconds for which a place is held

    @property
    def expected_wait(self) -> float:
        """Estimate the seconds that new work would wait for a place."""
        return self.waits.waiting * self._pace / self._at_once

    def run(self, work: Callable[[], Made]) -> Made:
        """Run ``work`` in its turn and return its result; raise UserError if the expected wait is too long."""
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
        """Move the work to an extra place as soon as an extra place is free; return when the work has ended."""
        while not thread.has_ended(0):
            if self._beside.acquire(blocking=False):
                place.close()
                place.callback(self._beside.release)
                while not thread.has_ended():
                    pass
            thread.has_ended(LOOK)


class _Thread(Generic[Made]):
    """A single piece of work in a worker thread; a lowered thread priority cannot be raised again."""

    def __init__(self, work: Callable[[], Made]) -> None:
        self.made: Future[Made] = Future()
        self._handed: SimpleQueue[Callable[[], None] | None] = SimpleQueue()  # None once the work has ended
        context = copy_context()  # carries the cancellation token to the worker thread
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
        """Run ``work`` in the waiting thread and block until it is done; propagate its exception."""
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
        """Wait at most ``seconds`` and return True if the work ended.

        Meanwhile at most one function that the work handed back is run.
        """
        if not self.made.done():
            with suppress(Empty):
                handed = self._handed.get(timeout=seconds)
                if handed is not None:
                    handed()
        return self.made.done()

    def seconds(self) -> float:
        """Return the CPU seconds that the work has taken so far."""
        return self._worker.seconds() - self._before

    def give_way(self) -> None:
        """Lower the priority of the work."""
        self._worker.give_way(self)


class _Worker:
    """A thread that runs one piece of work after another until its priority is lowered.

    Threads are reused because starting a thread costs more than tracing a short text: the numeric libraries
    initialise themselves in each new thread.
    """

    _idle: ClassVar[SimpleQueue[_Worker]] = SimpleQueue()

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._doing: object = None  # the current _Thread; None while the worker is idle
        self._spent = False
        thread = threading.Thread(target=self._run, name="answer", daemon=True)
        thread.start()
        assert thread.native_id is not None  # set once the thread has started
        self._id = thread.native_id

    @classmethod
    def free(cls) -> _Worker:
        """Return an idle worker, or start a new worker."""
        try:
            return cls._idle.get_nowait()
        except Empty:
            return cls()

    def takes_up(self, whose: object, work: Callable[[], None]) -> None:
        """Start ``work`` on behalf of ``whose``."""
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
        """Return the CPU seconds of this thread since it started; 0 if it has ended."""
        with suppress(OSError):  # the thread may have ended meanwhile
            fields = Path(f"/proc/self/task/{self._id}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def give_way(self, whose: object) -> None:
        """Lower this thread's priority and retire it after the current work, if it still works for ``whose``."""
        with self._lock:
            if self._doing is whose:
                self._spent = True
                os.setpriority(os.PRIO_PROCESS, self._id, os.getpriority(os.PRIO_PROCESS, self._id) + NICE)


def calm_blas() -> None:
    """Limit BLAS to a single thread in this process.

    The matrix products here are small. With a second thread that waits for a busy core, the attention map of a
    head for 512 tokens took 7 to 20 ms instead of 0.4 ms (docs/LOG.md).
    """
    from threadpoolctl import threadpool_limits  # imported here, because showing existing maps does not need it

    threadpool_limits(limits=1, user_api="blas")
