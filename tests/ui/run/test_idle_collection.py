"""Garbage goes while nothing runs, never while a script does, and on a server that is never quiet after all."""

from __future__ import annotations

import gc
import random
import threading
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from ui.places import ROOT
from ui.run import idle_collection
from ui.run.idle_collection import APART, LONGEST, QUIET, Scripts

PATIENCE = 60.0  # seconds, for a busy machine


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Large:
    """Something that only a collection can free: it holds itself."""

    def __init__(self) -> None:
        self.me, self.weights = self, bytearray(2**20)


@pytest.fixture
def by_hand() -> Iterator[None]:
    """Python does not collect by itself meanwhile."""
    gc.disable()
    yield
    gc.enable()


def test_streamlit_leaves_it_to_us() -> None:
    assert config.get_option("runner.postScriptGC") is False


def test_the_main_script_says_that_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    scripts = Scripts(clock=clock)
    monkeypatch.setattr(idle_collection, "SCRIPTS", scripts)
    monkeypatch.setattr("ui.input.sidebar.sidebar", lambda _choice: setattr(clock, "now", clock.now + 5))
    app = AppTest.from_file(str(ROOT / "ui" / "server" / "shell.py"), default_timeout=PATIENCE).run()
    assert not app.exception
    assert scripts.pause() == QUIET


def test_nothing_is_owed_before_a_script_ran() -> None:
    assert Scripts().pause() is None


def test_a_quiet_server_collects_after_its_last_script() -> None:
    clock = Clock()
    scripts = Scripts(clock=clock)
    with scripts.run():
        clock.now += 3
    for _ in range(5):
        clock.now += QUIET / 2  # asked again before it was quiet for long enough
        with scripts.run():
            clock.now += 1
        assert scripts.pause() == QUIET
    clock.now += QUIET
    assert scripts.pause() == 0


def test_a_script_that_fails_or_is_stopped_has_ended() -> None:
    scripts = Scripts(clock=Clock())
    with pytest.raises(KeyboardInterrupt), scripts.run():
        raise KeyboardInterrupt
    assert scripts.pause() == QUIET


@pytest.mark.parametrize("seed", range(20))
def test_laws_of_any_day(seed: int) -> None:
    """Visitors come and go: none is disturbed but for what lay about for too long, and nothing lies longer."""
    pick, clock = random.Random(seed), Clock()
    scripts = Scripts(clock=clock)
    running: list[AbstractContextManager[None]] = []
    littered: float | None = None
    ended, collected, reasons = clock.now, clock.now - APART, set()
    for _ in range(1000):
        clock.now += pick.choice([0.0, 0.25, 0.5, 1.0, QUIET])
        if running and pick.random() < 0.5:
            running.pop(pick.randrange(len(running))).__exit__(None, None, None)
            ended = clock.now
        elif len(running) < 3 and pick.random() < 0.7:
            running.append(scripts.run())
            running[-1].__enter__()
            littered = clock.now if littered is None else littered
        pause = scripts.pause()
        assert (pause is None) == (littered is None)
        if pause is None or littered is None:
            continue
        old = clock.now - littered
        assert pause <= LONGEST - old
        quiet, apart = clock.now - ended, clock.now - collected
        assert pause > 0 or old >= LONGEST or (not running and quiet >= QUIET and apart >= APART)
        assert running or pause <= max(QUIET - quiet, APART - apart)
        assert scripts.take() == (pause <= 0)
        if pause <= 0:
            collected = clock.now
            reasons.add("late" if old >= LONGEST else "quiet")
            littered = clock.now if running else None
    assert reasons == {"late", "quiet"}


@pytest.mark.usefixtures("by_hand")
def test_a_cycle_is_gone_once_the_server_is_idle() -> None:
    scripts, gone = Scripts(quiet=0.0), threading.Event()
    with scripts.watched():
        with scripts.run():
            large = Large()
            weakref.finalize(large, gone.set).atexit = False
            del large
            assert not gone.is_set()
        assert gone.wait(PATIENCE)


@pytest.mark.usefixtures("by_hand")
def test_a_cycle_is_gone_on_a_server_that_is_never_quiet() -> None:
    scripts, gone = Scripts(longest=0.0), threading.Event()
    large = Large()
    weakref.finalize(large, gone.set).atexit = False
    del large
    with scripts.watched(), scripts.run():
        assert gone.wait(PATIENCE)


@pytest.mark.usefixtures("by_hand")
def test_what_was_out_of_the_collectors_sight_is_gone_when_it_is_evicted() -> None:
    scripts, gone = Scripts(quiet=0.0), threading.Event()
    large = Large()
    weakref.finalize(large, gone.set).atexit = False
    gc.freeze()
    del large
    with scripts.watched():
        with scripts.run():
            pass
        assert gone.wait(PATIENCE)


def test_the_thread_ends_with_the_server() -> None:
    before = set(threading.enumerate())
    with Scripts().watched():
        started = set(threading.enumerate()) - before
        assert [thread.name for thread in started] == ["idle collection"]
    assert not any(thread.is_alive() for thread in started)
