"""Throughput of one and two Ray Serve replicas, with and without batches, against this process."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from bench.report import ReportRow
from bench.serving import CROWD, SECONDS, run_crowd, run_service, text
from inference.backend import LocalBackend
from inference.request import TraceRequest
from inference.settings import Settings

FIRST_PORT = 8951


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


def measure() -> Iterator[ReportRow]:
    """Yield a row for each configuration; Ray has to be installed."""
    os.environ["OMP_NUM_THREADS"] = "1"
    for together in (1, CROWD):
        yield _row(f"in this process, {together} at once", local_throughput(together), 0)
    for number, (many, batch) in enumerate(itertools.product((1, 2), (1, CROWD))):
        options = ("--replicas", str(many), "--least", str(many), "--batch", str(batch))
        with run_service("serving.cluster", FIRST_PORT + number, *options) as (_server, there):
            done, refused = run_crowd(there, 10_000)
            yield _row(f"Ray Serve, {many} replicas, {batch} at once at most", done / SECONDS, refused)


def _row(what: str, speed: float, refused: int) -> ReportRow:
    load = os.getloadavg()[0]
    return ReportRow(
        f"{CROWD} clients, {what}", "–", f"{speed:.0f} traces/s, {refused} refused", None, f"load {load:.0f}"
    )
