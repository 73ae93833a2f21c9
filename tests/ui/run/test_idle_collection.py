"""Garbage collection on an idle server, never during a script, and eventually on a busy server."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from contextlib import AbstractContextManager

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from tests.support.cases import draw_seeds
from ui.paths import ROOT
from ui.run import idle_collection
from ui.run.idle_collection import APART, LONGEST, QUIET, Scripts

PATIENCE = 60.0  # The time limit is in seconds and allows for a busy machine.


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_streamlit_leaves_it_to_us() -> None:
    assert config.get_option("runner.postScriptGC") is False


def test_the_main_script_says_that_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    scripts = Scripts(clock=clock)
    monkeypatch.setattr(idle_collection, "SCRIPTS", scripts)
    monkeypatch.setattr("ui.show.top_bar.draw_top_bar", lambda: setattr(clock, "now", clock.now + 5))
    app = AppTest.from_file(str(ROOT / "ui" / "server" / "shell.py"), default_timeout=PATIENCE).run()
    assert not app.exception
    assert scripts.pause() == QUIET


def test_nothing_is_owed_before_a_script_ran() -> None:
    assert Scripts().pause() is None


def test_work_that_waits_for_rest_starts_after_the_last_script() -> None:
    scripts, order = Scripts(), list[str]()
    running = threading.Event()

    def work() -> None:
        running.wait(PATIENCE)
        scripts.wait_for_rest(0.05)
        order.append("work")

    thread = threading.Thread(target=work)
    thread.start()
    with scripts.run():
        running.set()
        thread.join(0.2)
        order.append("page")
    thread.join(PATIENCE)
    assert order == ["page", "work"]


def test_a_quiet_server_collects_after_its_last_script() -> None:
    clock = Clock()
    scripts = Scripts(clock=clock)
    with scripts.run():
        clock.now += 3
    for _ in range(5):
        clock.now += QUIET / 2  # The next script begins before the quiet period is over.
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


@draw_seeds(20)
def test_laws_of_any_day(seed: int) -> None:
    """Random visits: no script is interrupted unless garbage is overdue, and no garbage stays longer."""
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
        assert scripts.should_collect() == (pause <= 0)
        if pause <= 0:
            collected = clock.now
            reasons.add("late" if old >= LONGEST else "quiet")
            littered = clock.now if running else None
    assert reasons == {"late", "quiet"}


# A separate process has few objects; in the test process, a collection takes a second because of all its imports.
GONE = f"""
import gc, threading, weakref
from ui.run.idle_collection import Scripts

class Large:  # only a collection can free it: it holds itself
    def __init__(self):
        self.me, self.weights = self, bytearray(2**20)

def large():
    gone = threading.Event()
    weakref.finalize(Large(), gone.set).atexit = False
    return gone

gc.disable()  # Python does not collect by itself meanwhile

def idle():
    scripts = Scripts(quiet=0.0)
    with scripts.collect_while_idle():
        with scripts.run():
            gone = large()
            assert not gone.is_set()
        assert gone.wait({PATIENCE})

def never_quiet():
    scripts, gone = Scripts(longest=0.0), large()
    with scripts.collect_while_idle(), scripts.run():
        assert gone.wait({PATIENCE})

def out_of_sight():
    scripts, gone = Scripts(quiet=0.0), large()
    gc.freeze()
    with scripts.collect_while_idle():
        with scripts.run():
            pass
        assert gone.wait({PATIENCE})

for law in (idle, never_quiet, out_of_sight):
    law()
    print(law.__name__)
"""


@pytest.mark.slow
def test_a_cycle_is_gone_once_the_server_is_idle_or_never_quiet_or_when_it_was_out_of_the_collector_s_sight() -> None:
    answer = subprocess.run([sys.executable, "-c", GONE], cwd=ROOT, check=False, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.split() == ["idle", "never_quiet", "out_of_sight"]


def test_the_thread_ends_with_the_server() -> None:
    before = set(threading.enumerate())
    with Scripts().collect_while_idle():
        started = set(threading.enumerate()) - before
        assert [thread.name for thread in started] == ["idle collection"]
    assert not any(thread.is_alive() for thread in started)
