"""Who waits for what is done a few at a time, in turn by visitor, and how long: an operator sees where it crowds."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from time import perf_counter
from typing import Any, Generic, TypeVar

from inference import cancellation

Item = TypeVar("Item")
Made = TypeVar("Made")


class QueueStats:
    """Counts of one line: who stands in it now, who was let through after how many seconds together, who was not.

    >>> line = QueueStats()
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
    >>> [line.take() for _ in range(5)]
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
