"""Scheduling of long requests: hand-over of places, priorities, and limits."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from inference import cancellation
from inference.errors import UserError
from inference.scheduling import BUSY, Scheduler

AT_ONCE = -1.0  # Every request has taken longer than this number of seconds.
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux knows priorities of single threads")


class Held:
    """A task that runs until the test ends it."""

    def __init__(self) -> None:
        self.begun, self.over = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.begun.set()
        self.over.wait(60)


def begun(pool: ThreadPoolExecutor, lanes: Scheduler, work: Held) -> Future[None]:
    done = pool.submit(lanes.run, work)
    assert work.begun.wait(60)
    return done


def test_what_it_gives_and_what_it_raises_come_back() -> None:
    def broken() -> None:
        raise ValueError("so")

    lanes = Scheduler(1)
    with pytest.raises(ValueError, match="so"):
        lanes.run(broken)
    assert lanes.run(lambda: 3) == 3
    assert (lanes.waits.passed, lanes.waits.waiting) == (2, 0)


def test_what_it_computes_for_is_known_to_it() -> None:
    whose: ContextVar[str] = ContextVar("whose", default="nobody's")
    whose.set("ann's")
    assert Scheduler(1).run(whose.get) == "ann's"


def test_what_only_the_asking_thread_may_do_is_done_there_and_what_it_raises_ends_the_work() -> None:
    seen: list[int] = []

    def note() -> None:
        seen.append(threading.get_ident())

    def refused() -> None:
        raise ValueError("no more")

    def work(then: Callable[[], None]) -> int:
        cancellation.run_in_calling_thread(note)
        cancellation.run_in_calling_thread(then)
        return threading.get_ident()

    inner, outer = Scheduler(1), Scheduler(1)
    thread = outer.run(lambda: inner.run(lambda: work(note)))
    assert seen == [threading.get_ident()] * 2
    assert thread != threading.get_ident() or sys.platform != "linux"
    with pytest.raises(ValueError, match="no more"):
        outer.run(lambda: work(refused))


def test_short_work_keeps_its_place_to_its_end() -> None:
    lanes, first = Scheduler(1, short=1e6), Held()
    with ThreadPoolExecutor(2) as pool:
        begun(pool, lanes, first)
        second = pool.submit(lanes.run, lambda: "in")
        while not lanes.waits.waiting:
            pass
        assert not second.done()
        first.over.set()
        assert second.result(60) == "in"


@linux
def test_long_work_hands_on_its_place() -> None:
    lanes, long = Scheduler(1, AT_ONCE), Held()
    with ThreadPoolExecutor(1) as pool:
        done = begun(pool, lanes, long)
        assert lanes.run(lambda: "in") == "in"
        assert not done.done()
        long.over.set()
        done.result(60)
    assert lanes.run(lambda: "again") == "again"


@pytest.mark.slow
@linux
def test_no_more_run_beside_the_gate_than_in_it() -> None:
    lanes, first, second = Scheduler(1, AT_ONCE), Held(), Held()
    with ThreadPoolExecutor(3) as pool:
        one, two = begun(pool, lanes, first), begun(pool, lanes, second)
        third = pool.submit(lanes.run, lambda: "in")
        while not lanes.waits.waiting:
            pass
        assert not third.done()
        first.over.set()
        assert third.result(60) == "in"
        second.over.set()
        for done in (one, two):
            done.result(60)


@linux
def test_others_come_first_where_it_takes_long_and_only_there() -> None:
    mine = priority()
    if mine == 19:
        pytest.skip("nothing comes after this process")

    def lowered() -> int:
        while priority() == mine:
            pass
        return priority()

    lanes = Scheduler(1, AT_ONCE)
    assert lanes.run(lowered) > mine
    assert priority() == mine
    assert Scheduler(1, short=1e6).run(priority) == mine


def test_who_would_wait_long_is_told_so_and_served_when_the_line_is_short_again() -> None:
    lanes, first = Scheduler(1, short=1e6, longest=-1.0), Held()
    first.over.set()
    with pytest.raises(UserError, match=re.escape(BUSY)) as refused:
        lanes.run(first)
    assert (refused.value.way_out, lanes.waits.refused, first.begun.is_set()) == ("busy", 1, False)

    lanes, first = Scheduler(1, short=1e6, longest=0.0), Held()
    lanes.run(lambda: threading.Event().wait(0.001))  # This gives the scheduler a first duration.
    with ThreadPoolExecutor(2) as pool:
        done = [begun(pool, lanes, first), pool.submit(lanes.run, lambda: None)]
        while not lanes.waits.waiting:
            pass
        with pytest.raises(UserError):
            lanes.run(lambda: None)
        first.over.set()
        for one in done:
            one.result(60)
    assert lanes.run(lambda: "served") == "served"


def priority() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
