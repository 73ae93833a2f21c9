"""A semaphore that admits a limited number of callers, in turn by visitor, and counts those that wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress

import pytest

from inference.cancellation import Cancelled, CancelToken, use_token
from inference.scheduling import FairSemaphore


def test_who_waits_is_counted_until_a_place_is_free() -> None:
    gate, let, inside = FairSemaphore(1), threading.Event(), threading.Event()

    def work() -> None:
        with gate:
            inside.set()
            let.wait(60)

    first, second = (threading.Thread(target=work) for _ in range(2))
    first.start()
    inside.wait(60)
    second.start()
    while gate.waits.waiting == 0:
        pass
    assert gate.waits.passed == 1
    let.set()
    first.join()
    second.join()
    assert (gate.waits.waiting, gate.waits.passed) == (0, 2)
    assert gate.waits.seconds > 0


def test_a_failure_inside_leaves_the_place_free() -> None:
    gate = FairSemaphore(1)
    for _ in range(2):
        try:
            with gate:
                raise ValueError
        except ValueError:
            pass
    assert gate.waits.passed == 2


def held(
    gate: FairSemaphore, stops: dict[str, CancelToken], order: list[str]
) -> Iterator[tuple[str, threading.Thread]]:
    """Yield the name and thread of each waiting caller; ``order`` records the admissions."""

    def visit(name: str) -> None:
        with use_token(stops[name]), suppress(Cancelled), gate:
            order.append(name)

    for place, name in enumerate(stops, 1):
        thread = threading.Thread(target=visit, args=(name,))
        thread.start()
        while gate.waits.waiting < place:
            pass
        yield name, thread


def test_who_has_twenty_in_line_holds_up_nobody_who_has_one() -> None:
    gate, order = FairSemaphore(1), list[str]()
    with gate:
        names = [f"ann {at}" for at in range(20)] + ["bob 0", "cem 0"]
        threads = dict(held(gate, {name: CancelToken(name.split()[0]) for name in names}, order))
    for thread in threads.values():
        thread.join(60)
    assert order[:4] == ["ann 0", "bob 0", "cem 0", "ann 1"]
    assert sorted(order) == sorted(names)


def test_who_has_gone_leaves_the_line_and_is_never_let_in() -> None:
    gate, order = FairSemaphore(1), list[str]()
    stops = {name: CancelToken(name) for name in ("ann", "bob", "cem")}
    with gate:
        threads = dict(held(gate, stops, order))
        stops["bob"].stop()
        threads["bob"].join(60)
        assert (gate.waits.waiting, order) == (2, [])
    for thread in threads.values():
        thread.join(60)
    assert order == ["ann", "cem"]
    with gate:  # The semaphore is free again.
        assert gate.waits.waiting == 0


def test_who_goes_in_the_moment_of_being_let_in_leaves_the_place_to_the_next() -> None:
    gate = FairSemaphore(1)

    class Interrupted(BaseException):
        pass

    class Goes(CancelToken):
        def wait(self, future: Future[None]) -> None:
            gate.__exit__()  # The release admits this caller.
            assert future.done()
            raise Interrupted

    gate.__enter__()
    with pytest.raises(Interrupted), use_token(Goes()), gate:
        pass
    with gate:
        assert gate.waits.waiting == 0
