"""Many dimensions as two or three: PCA at once, UMAP in a process that can be stopped."""

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
from ui.run import visitors
from ui.run.services import get_backend

log = logging.getLogger(__name__)

NEIGHBOURS = 15  # what UMAP takes unless told
FEWEST = 2 * NEIGHBOURS  # points; of fewer, half would be everybody's neighbours
MOST = 2000  # points; more take minutes
KEPT = 2**24  # bytes of finished arrangements
IDLE = 600.0  # seconds after which the process, which holds some hundred megabytes, ends


class UmapJob:
    """One UMAP: "waiting", "running", then "done", "stopped" or "failed".

    It is stopped after ``seconds``, which ``late`` then says, and when all who have asked for it have gone.
    """

    def __init__(self, vectors: FloatArray, dimensions: int, worker: UmapWorker, seconds: float | None = None) -> None:
        self.points: FloatArray | None = None
        self.state = "waiting"
        self.late = ""
        self._worker = worker
        self._visitors: dict[str, Visitor] = {}
        self.asked_by(visitors.page_visitor())
        self._ends = CancelToken(next(iter(self._visitors), ""), seconds, gone=self._is_left)
        self._over: Future[None] = Future()
        self._changing = threading.Lock()
        self._begun = time.monotonic()
        self._asked = {"vectors": vectors, "dimensions": dimensions, "neighbours": NEIGHBOURS}
        self._thread = threading.Thread(target=self._run, name="umap", daemon=True)
        self._thread.start()
        threading.Thread(target=self._watch, name="umap's end", daemon=True).start()

    def asked_by(self, visitor: Visitor | None) -> None:
        """It is made for this one, too."""
        if visitor is not None:
            self._visitors[visitor.who] = visitor

    def _is_left(self) -> bool:
        asking = list(self._visitors.values())
        return bool(asking) and all(visitor.gone() for visitor in asking)

    @property
    def seconds(self) -> float:
        """Since it was asked for."""
        return time.monotonic() - self._begun

    def wait(self, seconds: float) -> None:
        """Return when it has ended, or after that time."""
        self._thread.join(seconds)

    def stop(self) -> None:
        """End it. The next one starts the process anew, which takes some seconds."""
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
        """Enter a state from another, with what was found; whether it was in that."""
        with self._changing:
            fits = self.state == before
            self.state, self.points = (state, points) if fits else (self.state, self.points)
            return fits


class UmapWorker:
    """The process, started when it is first needed and ended after that; one at a time has its ``turn``, by visitor."""

    def __init__(self) -> None:
        self.turn = FairSemaphore(1)
        self.process: subprocess.Popen[bytes] | None = None
        self._for: UmapJob | None = None  # whose turn it works in
        self._changing = threading.RLock()
        self.ending: threading.Timer | None = None

    def ask(self, message: dict[str, object], who: UmapJob) -> dict[str, np.ndarray]:
        """Its answer; without "points" when it ended meanwhile, could not do it, or nobody wants it any more."""
        with self._changing:  # a stop comes before this, or finds the process
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
        except (OSError, ValueError) as error:  # ended meanwhile: its streams are broken or closed
            return {"error": np.array(str(error))}
        finally:
            with self._changing:
                self._for = None
            self.ending = threading.Timer(IDLE, self.rest)
            self.ending.daemon = True
            self.ending.start()

    def rest(self) -> None:
        """End the process unless somebody has just begun to use it."""
        with self._changing:
            if self._for is None:
                self.end()

    def leave(self, who: UmapJob) -> None:
        """End the process if it works for this one, and not for the next already."""
        with self._changing:
            if self._for is who:
                self.end()

    def end(self) -> None:
        """End the process, if there is one; who waits for its answer then gets none."""
        with self._changing:
            process, self.process = self.process, None
            if process is not None:
                process.kill()
                process.wait()
                for stream in (process.stdin, process.stdout):
                    with suppress(OSError):  # what was not sent yet has nowhere to go
                        stream.close()  # type: ignore[union-attr]

    def start(self) -> subprocess.Popen[bytes]:
        """The process that answers, a new one where there is none."""
        if self.process is None or self.process.poll() is not None:
            self.end()  # one that ended by itself leaves its streams
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
    """Arrangements by what was asked, shared by every session, the running one among them.

    ``seconds`` is what one may take, its time in line included.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self.worker = UmapWorker()
        self._kept: ByteLru[UmapJob] = ByteLru(KEPT)
        self._lock = threading.Lock()

    def arrange(self, vectors: FloatArray, dimensions: int) -> UmapJob:
        """The arrangement of these vectors, (point, channel), begun now or earlier, whatever has become of it."""
        with self._lock:
            found = self._kept.get(_key(vectors, dimensions))
            if found is None:
                return self._begin(vectors, dimensions)
            found.asked_by(visitors.page_visitor())
            return found

    def restart(self, vectors: FloatArray, dimensions: int) -> UmapJob:
        """The same, begun anew where it was stopped or failed."""
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
    """The one of this process."""
    return UmapPool(get_backend().settings.arranging_seconds)
