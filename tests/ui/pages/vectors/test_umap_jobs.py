"""UMAP in a separate process: reproducibility and cancellation.

Most tests replace UMAP by a stub, because the real library compiles for 15 s after each start.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from inference.cancellation import Visitor
from tests.support.asking import asked, notes
from ui.pages.vectors import umap_jobs
from ui.pages.vectors.umap_jobs import FEWEST, UmapPool, UmapWorker


def clusters(count: int = 48) -> np.ndarray:
    """Return two clusters in two directions, shape (point, channel)."""
    dice = np.random.default_rng(0)
    ways = np.eye(2, 12, dtype=np.float32)[np.arange(count) % 2]
    return (ways + 0.1 * dice.normal(size=(count, 12))).astype(np.float32)


STAND_IN = """
import threading

class UMAP:
    def __init__(self, n_components, **settings):
        self.dimensions = n_components

    def fit_transform(self, vectors):
        if len(vectors) >= 1000:
            threading.Event().wait()  # longer than anybody waits
        return vectors[:, : self.dimensions]
"""


@pytest.fixture(scope="module")
def real() -> Iterator[UmapPool]:
    """Yield a pool with the real UMAP."""
    made = UmapPool()
    yield made
    made.worker.end()


@pytest.fixture
def arranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[UmapPool]:
    """Yield a pool with a stub for UMAP that returns immediately for few points and never for many."""
    (tmp_path / "umap.py").write_text(STAND_IN, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))
    made = UmapPool()
    yield made
    made.worker.end()


def done(arranger: UmapPool, vectors: np.ndarray, dimensions: int) -> np.ndarray:
    found = arranger.arrange(vectors, dimensions)
    found.wait(240)
    assert found.state == "done"
    assert found.points is not None
    return found.points


@pytest.mark.slow
def test_what_belongs_together_stays_together(real: UmapPool) -> None:
    vectors = clusters()
    assert len(vectors) >= FEWEST
    points = done(real, vectors, 2)
    assert points.shape == (48, 2)
    one, other = points[::2], points[1::2]
    apart = np.linalg.norm(one.mean(axis=0) - other.mean(axis=0))
    assert apart > 3 * max(one.std(), other.std()) or apart > 2 * np.ptp(one, axis=0).max()
    again = UmapPool()
    again.worker = real.worker
    np.testing.assert_array_equal(done(again, vectors, 2), points)
    assert done(real, vectors, 3).shape == (48, 3)


@pytest.mark.slow
def test_what_cannot_be_arranged_fails_in_words(real: UmapPool) -> None:
    failed = real.arrange(np.full((40, 3), np.nan, dtype=np.float32), 2)
    failed.wait(240)
    assert failed.state == "failed"


def test_it_is_begun_once_for_the_same_vectors(arranger: UmapPool) -> None:
    assert arranger.arrange(clusters(), 2) is arranger.arrange(clusters(), 2)


@pytest.mark.slow
def test_a_stopped_one_ends_and_begins_anew(arranger: UmapPool) -> None:
    vectors = np.random.default_rng(1).normal(size=(2000, 60)).astype(np.float32)
    running = arranger.arrange(vectors, 2)
    waiting = arranger.arrange(vectors, 3)
    waiting.stop()
    running.stop()
    for one in (running, waiting):
        one.wait(60)
        assert (one.state, one.points) == ("stopped", None)
    assert arranger.arrange(vectors, 2) is running
    again = arranger.restart(vectors, 2)
    assert again is not running
    again.stop()
    assert done(arranger, clusters(40), 2).shape == (40, 2)


def test_a_stop_while_the_process_is_being_started_ends_it_too(
    arranger: UmapPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, stops = UmapWorker.start, []

    def slowly(worker: UmapWorker) -> subprocess.Popen[bytes]:
        stops.append(threading.Thread(target=running.stop))
        stops[0].start()
        while running.state == "running":  # The cancellation has begun before the process exists.
            pass
        return start(worker)

    monkeypatch.setattr(UmapWorker, "start", slowly)
    turn = arranger.worker.turn
    with turn:  # The lock delays the job until ``running`` is assigned.
        running = arranger.arrange(np.random.default_rng(2).normal(size=(2000, 60)).astype(np.float32), 2)
    running.wait(60)
    stops[0].join(60)
    assert (running.state, running.points) == ("stopped", None)
    with turn:  # The lock is free again.
        assert turn.waits.waiting == 0
    assert arranger.worker.process is None


def test_it_ends_when_its_time_is_over_and_says_so(arranger: UmapPool) -> None:
    arranger.seconds = 0.0
    late = arranger.arrange(np.random.default_rng(3).normal(size=(2000, 60)).astype(np.float32), 2)
    late.wait(60)
    assert late.state == "stopped"
    assert " 0 seconds" in late.late


@pytest.mark.slow
def test_it_ends_when_all_who_asked_for_it_have_gone(arranger: UmapPool, monkeypatch: pytest.MonkeyPatch) -> None:
    left = set[str]()
    both = iter([Visitor("ann", lambda: "ann" in left), Visitor("bob", lambda: "bob" in left)])
    monkeypatch.setattr(umap_jobs, "page_visitor", lambda: next(both))
    vectors = np.random.default_rng(4).normal(size=(2000, 60)).astype(np.float32)
    asked = arranger.arrange(vectors, 2)
    assert arranger.arrange(vectors, 2) is asked
    left.add("ann")
    assert not asked._is_left()  # noqa: SLF001
    left.add("bob")
    asked.wait(60)
    assert (asked.state, asked.late) == ("stopped", "")


def test_a_stop_that_comes_late_does_not_end_the_next(arranger: UmapPool) -> None:
    one, other = arranger.arrange(clusters(50), 2), arranger.arrange(clusters(52), 2)
    one.wait(240)
    arranger.worker.leave(one)  # A late cancellation of the first job arrives during the second.
    other.wait(240)
    assert other.state == "done"


@pytest.mark.slow
def test_the_process_ends_when_nobody_needs_it(arranger: UmapPool, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(umap_jobs, "IDLE", 0.0)
        done(arranger, clusters(44), 2)
    ending = arranger.worker.ending
    assert ending is not None
    ending.join(60)
    arranger.worker.rest()  # The timer calls this method after the job.
    assert arranger.worker.process is None
    assert done(arranger, clusters(46), 2).shape == (46, 2)


@pytest.mark.slow
def test_a_word_is_told_from_a_token() -> None:
    assert any("UMAP" in note and "词元" in note for note in notes(asked("vectors", lang="zh", words=0, flat="umap")))
