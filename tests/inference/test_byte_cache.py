"""The cache bounded in bytes: eviction, single computation per key, and no blocking between keys."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from inference.byte_cache import ByteLru
from inference.cancellation import Cancelled, CancelToken, use_token
from inference.errors import UserError


def filled(budget: int, **sizes: int) -> ByteLru[str]:
    cache: ByteLru[str] = ByteLru(budget)
    for key, size in sizes.items():
        cache.put(key, key * size, size)
    return cache


def test_the_least_recently_used_goes_first() -> None:
    cache = filled(10, a=4, b=4)
    cache.get("a")
    cache.put("c", "c", 4)
    assert ("a" in cache, "b" in cache, "c" in cache) == (True, False, True)
    assert (cache.nbytes, len(cache)) == (8, 2)


def test_what_is_found_kept_and_let_go_is_counted() -> None:
    cache: ByteLru[str] = ByteLru(2)
    for key in "aabca":
        cache.get_or_make(key, lambda: "x", len)
    cache.put("a", "y", 1)  # The key is replaced.
    assert cache.get("a") == "y"
    assert cache.get("nothing") is None
    assert (cache.hits, cache.additions, cache.evictions) == (2, 4, 2)


def test_bytes_count_not_entries() -> None:
    cache = filled(10, a=1, b=1, c=1, d=9)
    assert ("c" in cache, "b" in cache, len(cache)) == (True, False, 2)


def test_what_is_larger_than_everything_is_kept_alone_until_the_next_one() -> None:
    cache, made = filled(10, a=4), []

    def make() -> str:
        made.append(1)
        return "x" * 11

    for _ in range(3):
        assert cache.get_or_make("b", make, len) == "x" * 11
    assert (len(made), "b" in cache, "a" in cache) == (1, True, False)
    cache.put("c", "c", 4)
    assert ("b" in cache, "c" in cache, cache.nbytes) == (False, True, 4)


def test_putting_again_counts_once() -> None:
    cache = filled(10, a=4)
    cache.put("a", "a", 6)
    assert cache.nbytes == 6


def test_room_is_made_before_making() -> None:
    cache = filled(10, a=4, b=4)
    cache.make_room(5)
    assert ("a" in cache, "b" in cache) == (False, True)


def test_one_thread_makes_for_all() -> None:
    cache: ByteLru[int] = ByteLru(100)
    gate, made = threading.Event(), []

    def make() -> int:
        gate.wait(5)
        made.append(1)
        return 7

    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(cache.get_or_make, "k", make, lambda _: 1) for _ in range(8)]
        assert cache.is_pending("k") or not gate.is_set()
        gate.set()
        assert [answer.result() for answer in answers] == [7] * 8
    assert len(made) == 1


def test_a_slow_making_holds_up_nothing_else() -> None:
    cache: ByteLru[int] = ByteLru(100)
    gate, begun = threading.Event(), threading.Event()

    def make() -> bool:
        begun.set()
        return gate.wait(60)

    slow = threading.Thread(target=cache.get_or_make, args=("slow", make, lambda _: 1))
    slow.start()
    assert begun.wait(60)
    assert cache.is_pending("slow")
    assert cache.get_or_make("fast", lambda: 2, lambda _: 1) == 2
    gate.set()
    slow.join()
    assert cache.get("slow"), "the other one waited until the gate was given up"


def test_a_failure_reaches_all_who_wait_and_is_not_kept() -> None:
    cache: ByteLru[int] = ByteLru(100)
    gate = threading.Event()

    def fail() -> int:
        gate.wait(5)
        raise UserError("No.", way_out="cut", details={"tokens": 1})

    with ThreadPoolExecutor(3) as pool:
        answers = [pool.submit(cache.get_or_make, "k", fail, lambda _: 1) for _ in range(3)]
        gate.set()
        for answer in answers:
            with pytest.raises(UserError, match="No") as caught:
                answer.result()
            assert caught.value.details == {"tokens": 1}
    assert not cache.is_pending("k")
    assert cache.get_or_make("k", lambda: 3, lambda _: 1) == 3


@pytest.mark.parametrize("end", [Cancelled("Stopped."), SystemExit()])  # A stopped page raises BaseException.
def test_where_who_makes_it_was_stopped_another_makes_it(end: BaseException) -> None:
    cache: ByteLru[str] = ByteLru(100)
    begun, go, waiting = threading.Event(), threading.Event(), threading.Event()

    def ended() -> str:
        begun.set()
        go.wait(60)
        raise end

    class Waits(CancelToken):
        def wait(self, future: Future[str]) -> None:
            waiting.set()
            super().wait(future)

    def other() -> str:
        with use_token(Waits()):
            return cache.get_or_make("k", lambda: "made", len)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.get_or_make, "k", ended, len)
        begun.wait(60)
        second = pool.submit(other)
        waiting.wait(60)
        go.set()
        assert second.result(60) == "made"
        assert first.exception(60) is end


def test_who_has_gone_waits_no_more_for_what_another_makes() -> None:
    cache: ByteLru[str] = ByteLru(100)
    begun, go, stop = threading.Event(), threading.Event(), CancelToken()

    def make() -> str:
        begun.set()
        go.wait(60)
        return "made"

    class Goes(CancelToken):
        def wait(self, future: Future[str]) -> None:
            stop.stop()
            stop.wait(future)

    def other() -> str:
        with use_token(Goes()):
            return cache.get_or_make("k", make, len)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.get_or_make, "k", make, len)
        begun.wait(60)
        with pytest.raises(Cancelled):
            pool.submit(other).result(60)
        go.set()
        assert first.result(60) == "made"
