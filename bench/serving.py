"""The cost of a remote backend (HTTP, Ray Serve), and the processes that a number of visitors needs.

The number of processes is computed by a formula and by a simulation. Both use measured service times (docs/LOG.md) and
an assumed behaviour of visitors.
"""

from __future__ import annotations

import heapq
import itertools
import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from math import log
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
    """Return a text of 32 tokens that is different for each number."""
    digits = " ".join(f"{number:06d}")
    return f"{digits} {WORDS} all now"


@contextmanager
def run_service(
    module: str, port: int, *options: str, **settings: str
) -> Iterator[tuple[psutil.Process, RemoteBackend]]:
    """Inside the block, run a server process; yield the process and a remote backend that uses it.

    Both are warmed up. ``settings`` are environment variables of the process.
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
    """Times to trace a text by a remote (``far``) and by a local (``near``) backend, in milliseconds.

    ``far`` and ``near`` are medians of wall time. ``more`` is the median over pairs of far minus near, each pair
    measured at the same time. ``far_processor`` and ``near_processor`` are means of CPU time; that of ``far`` includes
    the server's.
    """

    far: float
    near: float
    more: float
    far_processor: float
    near_processor: float


def overhead(there: RemoteBackend, here: LocalBackend, server: psutil.Process, first: int) -> Overhead:
    """Trace texts by a remote and by a local backend alternately; return the times.

    ``first`` is the number of the first text. ``server`` is the process of the remote backend.
    """
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
    """Send texts from parallel clients for a fixed time; return the numbers of traces and refusals.

    ``first`` is the number of the first text. If ``kill`` is given, this replica of the service is killed after a third
    of the time.
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
    """Return the traces per second that this process computes by itself.

    ``together`` is the number of texts in a batch.
    """
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
    """Yield a row with the traces per second of each configuration of Ray Serve, which must be installed."""
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


# Measured by `python -m bench clicks`, `classroom` and `serving`, in seconds of CPU time.
CLICK_SECONDS = 0.0035  # a head change: 0.5 ms, and its map
TEXT_SECONDS = 0.015  # a new text without the model, including the parsing of a 1 MB response
OPENING = 0.14  # the first page of a visitor: thirty visitors took 4.1 s
MODEL = 0.015  # 32 tokens with all-MiniLM-L6-v2, including serialisation; other texts and models differ
ANSWER = 0.93  # MB of that trace
REPLICA = 0.7  # GB of memory of a process with a model
KEPT_GB = 1.0  # GB of cached traces and answers in a process of the app (HEADLIGHT_TRACE_MEMORY)

# Assumptions about visits and limits.
STAY, TEXTS_A_VISIT, CLICKS_A_VISIT = 600.0, 6.0, 60.0  # duration in seconds, and the events in it
WAIT = 0.1  # limit of the 95th percentile of waiting, in seconds, for the app and for the models
BUSY = 0.7  # maximum utilisation, which leaves room for peaks within the hour

Kinds = Sequence[tuple[float, float, float]]  # (requests per second, mean service time in seconds, mean of its square)


@dataclass(frozen=True)
class Need:
    """The number of processes that a load needs.

    ``busy`` is their utilisation (0 to 1), ``wait`` the 95th percentile of waiting in seconds.
    """

    processes: int
    busy: float
    wait: float


def app_kinds(visitors: float) -> Kinds:
    """Return the kinds of requests that ``visitors`` per hour send to the app.

    A kind is (requests per second, service time in seconds, its square). The service time is constant.
    """
    per_second = visitors / 3600
    done = ((1.0, OPENING), (TEXTS_A_VISIT, TEXT_SECONDS), (CLICKS_A_VISIT, CLICK_SECONDS))
    return [(per_second * many, seconds, seconds**2) for many, seconds in done]


def model_kinds(visitors: float) -> Kinds:
    """Return the kinds of requests that ``visitors`` per hour send to models.

    A kind is (requests per second, mean service time in seconds, mean of its square). Service times are exponentially
    distributed.
    """
    return [(visitors / 3600 * TEXTS_A_VISIT, MODEL, 2 * MODEL**2)]


def formula(kinds: Kinds, processes: int) -> Need:
    """Compute by queueing theory the utilisation of ``processes`` and the 95th percentile of waiting.

    The mean waiting time is the Pollaczek-Khinchine formula; its tail is assumed to be exponential.

    >>> formula([(50.0, 0.01, 0.0002)], 1).busy
    0.5
    """
    busy = sum(many * seconds for many, seconds, _square in kinds) / processes
    if busy >= 1:
        return Need(processes, busy, float("inf"))
    mean = sum(many * square for many, _seconds, square in kinds) / processes / (2 * (1 - busy))
    return Need(processes, busy, max(0.0, mean / busy * log(busy / 0.05)))


def fewest_processes(kinds: Kinds) -> Need:
    """Return the smallest number of processes that keeps utilisation and waiting within their limits."""
    found = (formula(kinds, processes) for processes in count(1))
    return next(need for need in found if need.busy <= BUSY and need.wait <= WAIT)


class Lines:
    """Simulated queues of requests, one for each process, which serves one request at a time.

    Waiting times are recorded.
    """

    def __init__(self, processes: int) -> None:
        self.free = [0.0] * processes
        self.waited: list[float] = []

    def passes(self, process: int, now: float, seconds: float) -> float:
        """Add a request that arrives at time ``now`` and takes ``seconds``; return the time at which it is done."""
        begins = max(now, self.free[process])
        self.waited.append(begins - now)
        self.free[process] = begins + seconds
        return self.free[process]

    @property
    def nineteen_of_twenty(self) -> float:
        """Return the 95th percentile of waiting in seconds."""
        return sorted(self.waited)[int(len(self.waited) * 0.95)]


def play(visitors: float, apps: int, replicas: int, seconds: float, seed: int = 0) -> tuple[Lines, Lines]:
    """Simulate visitors for ``seconds``; return the queues of the app's and of the models' processes.

    ``visitors`` arrive per hour. ``apps`` and ``replicas`` are the numbers of processes of the app and of the models.
    The simulation starts with the average number of visitors. A visitor opens a page, then repeatedly waits some time,
    changes a head or submits a text, and waits for the result. After each event the visitor may leave.
    """
    luck, app, model = random.Random(seed), Lines(apps), Lines(replicas)
    think = STAY / (TEXTS_A_VISIT + CLICKS_A_VISIT)
    leaves = 1 / (TEXTS_A_VISIT + CLICKS_A_VISIT)
    there = round(visitors / 3600 * STAY)
    # (time, unique number, process, "opens", "acts" or "reads"); the number breaks ties in the heap
    events = [(luck.expovariate(1 / think), number, luck.randrange(apps), "acts") for number in range(there)]
    numbers = count(there)
    heapq.heapify(events)
    heapq.heappush(events, (luck.expovariate(visitors / 3600), next(numbers), luck.randrange(apps), "opens"))
    while events and (now := events[0][0]) < seconds:
        _now, _number, own, what = heapq.heappop(events)
        if what == "opens":
            coming = now + luck.expovariate(visitors / 3600)
            heapq.heappush(events, (coming, next(numbers), luck.randrange(apps), "opens"))
            done = app.passes(own, now, OPENING)
        elif what == "reads":
            done = model.passes(luck.randrange(replicas), now, luck.expovariate(1 / MODEL))
        elif luck.random() < TEXTS_A_VISIT / (TEXTS_A_VISIT + CLICKS_A_VISIT):
            heapq.heappush(events, (app.passes(own, now, TEXT_SECONDS), next(numbers), own, "reads"))
            continue
        else:
            done = app.passes(own, now, CLICK_SECONDS)
        if what == "opens" or luck.random() >= leaves:
            heapq.heappush(events, (done + luck.expovariate(1 / think), next(numbers), own, "acts"))
    return app, model


def measure_cost() -> Iterator[ReportRow]:
    """Yield rows with the number of processes and the waiting times for 1,000 and 100,000 visitors per hour."""
    for visitors, seconds in ((1_000, 3_600.0), (100_000, 60.0)):
        app, model = fewest_processes(app_kinds(visitors)), fewest_processes(model_kinds(visitors))
        apps, first = app.processes, play(visitors, app.processes, model.processes, seconds)
        played = first
        while (
            played[0].nineteen_of_twenty > WAIT
        ):  # the formula underestimates waiting if a few requests take much longer than the rest
            apps += 1
            played = play(visitors, apps, model.processes, seconds)
        for name, need, lines in (("app", app, first[0]), ("models", model, first[1])):
            yield ReportRow(
                f"19 of 20 wait for the {name}, {visitors:,} visitors an hour, {need.processes} processes",
                "reported",
                f"{1_000 * lines.nineteen_of_twenty:.0f} ms; by the formula {1_000 * need.wait:.0f}",
                None,
                f"{len(lines.waited):,} played through in {seconds:.0f} s; busy {need.busy:.0%}",
            )
        texts, memory = visitors / 3600 * TEXTS_A_VISIT, apps * KEPT_GB + model.processes * REPLICA
        yield ReportRow(
            f"{visitors:,} visitors an hour, 19 of 20 waiting {1_000 * WAIT:.0f} ms at most at each",
            "reported",
            f"{apps} processes of the app, {model.processes} with models; {texts * ANSWER:.3g} MB/s between them,"
            f" {memory:.1f} GB",
        )
