"""UMAP projections, computed in a separate process that can be stopped."""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from functools import cache

import numpy as np

from attention.mask import FloatArray
from inference.byte_cache import ByteLru
from inference.cancellation import Cancelled, CancelToken, Visitor, use_token
from inference.scheduling import FairSemaphore
from ui.pages.vectors import umap_worker
from ui.paths import ROOT
from ui.run.services import get_backend, page_visitor

log = logging.getLogger(__name__)

NEIGHBOURS = 15  # UMAP's default number of neighbours
FEWEST = 2 * NEIGHBOURS  # smallest number of points; with fewer, half of them would be neighbours of every point
MOST = 2000  # largest number of points; more would take minutes
KEPT = 2**24  # size of the cache in bytes
IDLE = 600.0  # seconds until the idle process ends, to free some hundred megabytes


class UmapJob:
    """A UMAP projection that is computed in the background.

    Its ``state`` is "waiting", "running", "done", "stopped" or "failed". It is stopped after ``seconds``, with a
    message in ``late``, or when all visitors who requested it have left.
    """

    def __init__(self, vectors: FloatArray, dimensions: int, worker: UmapWorker, seconds: float | None = None) -> None:
        self.points: FloatArray | None = None
        self.state = "waiting"
        self.late = ""
        self._worker = worker
        self._visitors: dict[str, Visitor] = {}
        self.asked_by(page_visitor())
        self._ends = CancelToken(next(iter(self._visitors), ""), seconds, gone=self._is_left)
        self._over: Future[None] = Future()
        self._changing = threading.Lock()
        self._begun = time.monotonic()
        self._asked = {"vectors": vectors, "dimensions": dimensions, "neighbours": NEIGHBOURS}
        self._thread = threading.Thread(target=self._run, name="umap", daemon=True)
        self._thread.start()
        threading.Thread(target=self._watch, name="umap's end", daemon=True).start()

    def asked_by(self, visitor: Visitor | None) -> None:
        """Add a visitor to those who requested the projection."""
        if visitor is not None:
            self._visitors[visitor.who] = visitor

    def _is_left(self) -> bool:
        asking = list(self._visitors.values())
        return bool(asking) and all(visitor.gone() for visitor in asking)

    @property
    def seconds(self) -> float:
        """Return the seconds since the projection was first requested."""
        return time.monotonic() - self._begun

    def wait(self, seconds: float) -> None:
        """Block until the job has ended, or for ``seconds``."""
        self._thread.join(seconds)

    def stop(self) -> None:
        """Stop the job; if it is running, the process is ended.

        The next job then starts a new process, which takes some seconds.
        """
        self._ends.stop()
        if self._turns("waiting", "stopped"):
            return
        if self._turns("running", "stopped"):
            self._worker.leave(self)

    def _watch(self) -> None:
        try:
            self._ends.wait(self._over)
        except Cancelled as stopped:
            self.late = stopped.message if stopped.timed_out else ""
            self.stop()

    def _run(self) -> None:
        try:
            with use_token(self._ends), self._worker.turn:
                if self._turns("waiting", "running"):
                    self._settle(self._worker.ask(self._asked, self))
        except Cancelled:
            self._turns("waiting", "stopped")
        finally:
            self._over.set_result(None)

    def _settle(self, answer: dict[str, np.ndarray]) -> None:
        points = answer.get("points")
        if self._turns("running", "failed" if points is None else "done", points) and points is None:
            log.warning("UMAP failed: %s", answer.get("error"))

    def _turns(self, before: str, state: str, points: FloatArray | None = None) -> bool:
        """Change the state from ``before`` to ``state`` and store ``points``.

        Return False, without a change, if the state is not ``before``.
        """
        with self._changing:
            fits = self.state == before
            self.state, self.points = (state, points) if fits else (self.state, self.points)
            return fits


class UmapWorker:
    """The UMAP process, started on demand and ended when idle.

    ``turn`` is the queue that admits a single job at a time and takes visitors in turn.
    """

    def __init__(self) -> None:
        self.turn = FairSemaphore(1)
        self.process: subprocess.Popen[bytes] | None = None
        self._for: UmapJob | None = None  # the job that the process is working for
        self._changing = threading.RLock()
        self.ending: threading.Timer | None = None

    def ask(self, message: dict[str, object], who: UmapJob) -> dict[str, np.ndarray]:
        """Send a message to the process and return its answer, a dictionary with the key "points" or "error".

        If the job ``who`` was stopped or failed, the key is "error".
        """
        with self._changing:  # a concurrent stop either precedes this block or finds the process
            if who.state == "stopped":
                return {"error": np.array("Stopped before it began.")}
            if self.ending is not None:
                self.ending.cancel()
            self._for, process = who, self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            umap_worker.write(process.stdin, **message)
            return umap_worker.read(process.stdout) or {"error": np.array("The process ended.")}
        except (OSError, ValueError) as error:  # the process was ended: its streams are broken or closed
            return {"error": np.array(str(error))}
        finally:
            with self._changing:
                self._for = None
            self.ending = threading.Timer(IDLE, self.rest)
            self.ending.daemon = True
            self.ending.start()

    def rest(self) -> None:
        """End the process unless a job is using it."""
        with self._changing:
            if self._for is None:
                self.end()

    def leave(self, who: UmapJob) -> None:
        """End the process if it is working for the job ``who``."""
        with self._changing:
            if self._for is who:
                self.end()

    def end(self) -> None:
        """Kill the process, if there is one; a job that waits for its answer gets an error."""
        with self._changing:
            process, self.process = self.process, None
            if process is not None:
                process.kill()
                process.wait()
                for stream in (process.stdin, process.stdout):
                    with suppress(OSError):  # flushing unsent data fails, since the process is dead
                        stream.close()  # type: ignore[union-attr]

    def start(self) -> subprocess.Popen[bytes]:
        """Return the running process, or start it."""
        if self.process is None or self.process.poll() is not None:
            self.end()  # close the streams of a process that ended by itself
            few = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ui.pages.vectors.umap_worker"],
                cwd=ROOT,
                env={**os.environ, **few},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self.process


class UmapPool:
    """A cache of UMAP jobs that all sessions share, by vectors and number of dimensions.

    ``seconds`` limits the time of a job, including its time in the queue.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self.worker = UmapWorker()
        self._kept: ByteLru[UmapJob] = ByteLru(KEPT)
        self._lock = threading.Lock()

    def arrange(self, vectors: FloatArray, dimensions: int) -> UmapJob:
        """Return the job for ``vectors``, shape (point, channel), in any state; if there is none, start it."""
        with self._lock:
            found = self._kept.get(_key(vectors, dimensions))
            if found is None:
                return self._begin(vectors, dimensions)
            found.asked_by(page_visitor())
            return found

    def restart(self, vectors: FloatArray, dimensions: int) -> UmapJob:
        """Return the job for ``vectors``; start a new job if it was stopped or failed."""
        with self._lock:
            found = self._kept.get(_key(vectors, dimensions))
            if found is None or found.state in ("stopped", "failed"):
                found = self._begin(vectors, dimensions)
            return found

    def _begin(self, vectors: FloatArray, dimensions: int) -> UmapJob:
        made = UmapJob(vectors, dimensions, self.worker, self.seconds)
        self._kept.put(_key(vectors, dimensions), made, 1000 + 4 * dimensions * len(vectors))
        return made


def _key(vectors: FloatArray, dimensions: int) -> str:
    return hashlib.sha256(np.ascontiguousarray(vectors).tobytes() + bytes([dimensions])).hexdigest()


@cache
def get_umap_pool() -> UmapPool:
    """Return the pool of this process."""
    return UmapPool(get_backend().settings.arranging_seconds)
