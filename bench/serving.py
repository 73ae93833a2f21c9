"""Backends over HTTP and on Ray Serve."""

from __future__ import annotations

import itertools
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import psutil

from bench.report import ReportRow
from inference.backend import LocalBackend
from inference.errors import UserError
from inference.request import TraceRequest
from inference.settings import Settings
from serving import haproxy
from serving.remote_backend import RemoteBackend

ROOT = Path(__file__).resolve().parents[1]
WORDS = "the cat sat on a mat and the dog saw it all day long while rain fell upon old stone walls near dark"
PAIRS, CROWD, SECONDS = 60, 8, 20.0
KEPT = 40_000_000  # bytes of cached traces on both sides; a full cache reuses memory, as after an hour of use
WARM = 60  # texts that fill the cache
SERVING_FIRST_PORT = 8941


def text(number: int) -> str:
    """Return a new text of 32 tokens for each number."""
    digits = " ".join(f"{number:06d}")
    return f"{digits} {WORDS} all now"


@contextmanager
def run_service(
    module: str, port: int, *options: str, **settings: str
) -> Iterator[tuple[psutil.Process, RemoteBackend]]:
    """Run a server process inside the block; yield the process and a remote backend, both warmed up.

    ``settings`` are environment variables of the process.
    """
    command = [sys.executable, "-m", module, "--port", str(port), *options]
    environment = {**os.environ, "HEADLIGHT_TRACE_MEMORY": str(KEPT), **settings}
    child = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    there = RemoteBackend.from_url(f"http://127.0.0.1:{port}", settings=Settings(trace_memory_bytes=KEPT))
    try:
        for number in range(WARM):
            there.trace(TraceRequest(text=text(number)))
        yield psutil.Process(child.pid), there
    finally:
        there.close()
        child.send_signal(signal.SIGINT)
        child.wait(180)


@dataclass(frozen=True)
class Overhead:
    """The milliseconds of a text, remote (``far``) and local (``near``).

    ``far`` and ``near`` are medians of wall time; ``more`` is the median of the paired differences, which are
    robust to changes in the machine's speed. ``far_processor`` and ``near_processor`` are means of CPU time on
    both ends.
    """

    far: float
    near: float
    more: float
    far_processor: float
    near_processor: float


def overhead(there: RemoteBackend, here: LocalBackend, server: psutil.Process, first: int) -> Overhead:
    """Measure texts remotely and locally, alternately."""
    taken: dict[bool, list[float]] = {True: [], False: []}
    busy, began_busy = {True: 0.0, False: 0.0}, _processor_seconds(server)
    for number in range(first, first + PAIRS):
        request = TraceRequest(text=text(number))
        for far in (True, False) if number % 2 else (False, True):
            began, processor = time.perf_counter(), time.process_time()
            (there if far else here).trace(request)
            taken[far].append(1_000 * (time.perf_counter() - began))
            busy[far] += time.process_time() - processor
    busy[True] += _processor_seconds(server) - began_busy
    more = median(far - near for far, near in zip(taken[True], taken[False], strict=True))
    used = (1_000 * busy[far] / PAIRS for far in (True, False))
    return Overhead(median(taken[True]), median(taken[False]), more, *used)


def _processor_seconds(server: psutil.Process) -> float:
    """Return the CPU time of a server and its child processes in seconds."""
    times = [process.cpu_times() for process in (server, *server.children(recursive=True))]
    return float(sum(one.user + one.system for one in times))


def run_crowd(there: RemoteBackend, first: int, kill: psutil.Process | None = None) -> tuple[int, int]:
    """Return the numbers of traces and of refusals of parallel clients.

    ``kill`` is a replica that is killed after a third of the time.
    """
    numbers: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(first, first + 100_000):
        numbers.put(number)
    done, refused, end = [0] * CROWD, [0] * CROWD, time.monotonic() + SECONDS

    def visitor(which: int) -> None:
        while time.monotonic() < end:
            request = TraceRequest(text=text(numbers.get()))
            try:
                assert there.trace(request).text == request.text
                done[which] += 1
            except UserError:
                refused[which] += 1

    threads = [threading.Thread(target=visitor, args=(which,)) for which in range(CROWD)]
    for thread in threads:
        thread.start()
    if kill is not None:
        time.sleep(SECONDS / 3)
        kill.kill()
    for thread in threads:
        thread.join()
    return sum(done), sum(refused)


def replicas(server: psutil.Process) -> list[psutil.Process]:
    """Return the replica processes of a server."""
    return [child for child in server.children(recursive=True) if "ServeReplica" in " ".join(child.cmdline()[:1])]


def measure_serving() -> Iterator[ReportRow]:
    """Yield rows for the HTTP service, and for Ray Serve if it is installed."""
    os.environ["OMP_NUM_THREADS"] = "1"
    here = LocalBackend(Settings(trace_memory_bytes=KEPT))
    for number in range(WARM):
        here.trace(TraceRequest(text=text(number)))
    with run_service("serving.service", SERVING_FIRST_PORT) as (server, there):
        yield _overhead("one process over HTTP", overhead(there, here, server, WARM))
        done, refused = run_crowd(there, 10_000)
        yield ReportRow(
            f"{CROWD} clients, one process over HTTP", "–", f"{done / SECONDS:.0f} traces/s, {refused} refused", None
        )
    if find_spec("ray") is None:
        return
    with run_service("serving.cluster", SERVING_FIRST_PORT + 3, "--replicas", "1", **{haproxy.WANTED: "0"}) as (
        server,
        there,
    ):
        yield _overhead("Ray Serve, its own proxy", overhead(there, here, server, WARM + PAIRS))
    for many in (1, 2):
        options = ("--replicas", str(many), "--least", str(many))
        with run_service("serving.cluster", SERVING_FIRST_PORT + many, *options) as (server, there):
            if many == 1:
                yield _overhead("Ray Serve", overhead(there, here, server, WARM + 2 * PAIRS))
            done, refused = run_crowd(there, 20_000)
            said = f"{done / SECONDS:.0f} traces/s, {refused} refused"
            yield ReportRow(f"{CROWD} clients, Ray Serve with {many} replicas at most", "–", said, None)
            if many == 2:
                done, refused = run_crowd(there, 40_000, replicas(server)[0])
                said = f"{done} answered, {refused} refused"
                yield ReportRow("a replica killed under load", "nobody reads an error", said, refused == 0)


def _overhead(name: str, found: Overhead) -> ReportRow:
    times = 1 + found.more / found.near
    return ReportRow(
        f"32 tokens, {name}",
        "≤ 15 ms more and ≤ 1.2 ×",
        f"{found.far:.1f} ms against {found.near:.1f} ms: {found.more:.1f} ms more, {times:.2f} ×",
        found.more <= 15 and times <= 1.2,
        f"medians of {PAIRS} in turns; processor time of both ends {found.far_processor:.1f} against"
        f" {found.near_processor:.1f} ms",
    )


CLUSTER_FIRST_PORT = 8951


def local_throughput(together: int) -> float:
    """Return the traces per second in this process, with ``together`` texts in a batch."""
    here = LocalBackend(Settings())
    here.trace(TraceRequest(text="ready"))
    numbers, end = itertools.count(1_000_000), time.monotonic() + SECONDS

    def visitor(_which: int) -> int:
        done = 0
        while time.monotonic() < end:
            done += len(here.traces([TraceRequest(text=text(next(numbers))) for _ in range(together)]))
        return done

    crowded = CROWD // together
    with ThreadPoolExecutor(crowded) as pool:
        return sum(pool.map(visitor, range(crowded))) / SECONDS


def measure_cluster() -> Iterator[ReportRow]:
    """Yield a row for each configuration; Ray has to be installed."""
    os.environ["OMP_NUM_THREADS"] = "1"
    for together in (1, CROWD):
        yield _row(f"in this process, {together} at once", local_throughput(together), 0)
    for number, (many, batch) in enumerate(itertools.product((1, 2), (1, CROWD))):
        options = ("--replicas", str(many), "--least", str(many), "--batch", str(batch))
        with run_service("serving.cluster", CLUSTER_FIRST_PORT + number, *options) as (_server, there):
            done, refused = run_crowd(there, 10_000)
            yield _row(f"Ray Serve, {many} replicas, {batch} at once at most", done / SECONDS, refused)


def _row(what: str, speed: float, refused: int) -> ReportRow:
    load = os.getloadavg()[0]
    return ReportRow(
        f"{CROWD} clients, {what}", "–", f"{speed:.0f} traces/s, {refused} refused", None, f"load {load:.0f}"
    )
