"""A gate lets so many in at a time, and knows who waits."""

from __future__ import annotations

import threading

from inference.waits import Gate


def test_who_waits_is_counted_until_a_place_is_free() -> None:
    gate, let, inside = Gate(1), threading.Event(), threading.Event()

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
    gate = Gate(1)
    for _ in range(2):
        try:
            with gate:
                raise ValueError
        except ValueError:
            pass
    assert gate.waits.passed == 2
