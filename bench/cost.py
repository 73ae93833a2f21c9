"""The number of processes for a number of visitors per hour, by a formula and by simulation.

Times are measured (docs/LOG.md); the behaviour of visitors is assumed. A process serves one request at a time. A
visitor stays with a process of the app (a sticky proxy), and a text is sent to the replica selected by its key.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import log

from bench.report import ReportRow

# Measured by `python -m bench clicks`, `classroom` and `serving`, in seconds of CPU time.
CLICK = 0.0035  # a head change: 0.5 ms, and its map
TEXT = 0.015  # a new text without the model, including the parsing of a 1 MB response
OPENING = 0.14  # the first page of a visitor: thirty visitors took 4.1 s
MODEL = 0.015  # 32 tokens with all-MiniLM-L6-v2, including serialisation; other texts and models differ
ANSWER = 0.93  # MB of that trace
REPLICA = 0.7  # GB of memory of a process with a model
KEPT = 1.0  # GB of cached traces and answers in a process of the app (HEADLIGHT_TRACE_MEMORY)

# Assumptions about visits and limits.
STAY, TEXTS, CLICKS = 600.0, 6.0, 60.0  # duration in seconds, and the events in it
WAIT = 0.1  # limit of the 95th percentile of waiting, in seconds, for the app and for the models
BUSY = 0.7  # maximum utilisation, which leaves room for peaks within the hour

Kinds = Sequence[tuple[float, float, float]]  # (requests per second, mean service time in seconds, mean of its square)


@dataclass(frozen=True)
class Need:
    """A number of processes, their utilisation, and the 95th percentile of waiting in seconds."""

    processes: int
    busy: float
    wait: float


def app_kinds(visitors: float) -> Kinds:
    """Return the app's requests for ``visitors`` per hour, with a constant time for each kind."""
    per_second = visitors / 3600
    done = ((1.0, OPENING), (TEXTS, TEXT), (CLICKS, CLICK))
    return [(per_second * many, seconds, seconds**2) for many, seconds in done]


def model_kinds(visitors: float) -> Kinds:
    """Return the models' requests for ``visitors`` per hour, with exponential service times."""
    return [(visitors / 3600 * TEXTS, MODEL, 2 * MODEL**2)]


def formula(kinds: Kinds, processes: int) -> Need:
    """Compute utilisation and the 95th percentile of waiting for a number of processes.

    The mean waiting time is the Pollaczek-Khinchine formula; the tail is assumed to be exponential.

    >>> formula([(50.0, 0.01, 0.0002)], 1).busy
    0.5
    """
    busy = sum(many * seconds for many, seconds, _square in kinds) / processes
    if busy >= 1:
        return Need(processes, busy, float("inf"))
    mean = sum(many * square for many, _seconds, square in kinds) / processes / (2 * (1 - busy))
    return Need(processes, busy, max(0.0, mean / busy * log(busy / 0.05)))


def fewest_processes(kinds: Kinds) -> Need:
    """Return the smallest number of processes within the limits of utilisation and waiting."""
    found = (formula(kinds, processes) for processes in count(1))
    return next(need for need in found if need.busy <= BUSY and need.wait <= WAIT)


class Lines:
    """Queues of processes that serve one request at a time, and the recorded waiting times."""

    def __init__(self, processes: int) -> None:
        self.free = [0.0] * processes
        self.waited: list[float] = []

    def passes(self, process: int, now: float, seconds: float) -> float:
        """Add a request to a process's queue and return the time at which it is served."""
        begins = max(now, self.free[process])
        self.waited.append(begins - now)
        self.free[process] = begins + seconds
        return self.free[process]

    @property
    def nineteen_of_twenty(self) -> float:
        """Return the 95th percentile of waiting in seconds."""
        return sorted(self.waited)[int(len(self.waited) * 0.95)]


def play(visitors: float, apps: int, replicas: int, seconds: float, seed: int = 0) -> tuple[Lines, Lines]:
    """Simulate visitors for ``seconds`` and return the queues of the app and of the models.

    The simulation starts with the average number of visitors. A visitor opens a page, then repeatedly thinks,
    changes a head or submits a text, and waits for the result; after each event the visitor may leave.
    """
    luck, app, model = random.Random(seed), Lines(apps), Lines(replicas)
    think = STAY / (TEXTS + CLICKS)
    leaves = 1 / (TEXTS + CLICKS)
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
        elif luck.random() < TEXTS / (TEXTS + CLICKS):
            heapq.heappush(events, (app.passes(own, now, TEXT), next(numbers), own, "reads"))
            continue
        else:
            done = app.passes(own, now, CLICK)
        if what == "opens" or luck.random() >= leaves:
            heapq.heappush(events, (done + luck.expovariate(1 / think), next(numbers), own, "acts"))
    return app, model


def measure() -> Iterator[ReportRow]:
    """Yield rows of processes and waiting times for 1,000 and 100,000 visitors per hour."""
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
        texts, memory = visitors / 3600 * TEXTS, apps * KEPT + model.processes * REPLICA
        yield ReportRow(
            f"{visitors:,} visitors an hour, 19 of 20 waiting {1_000 * WAIT:.0f} ms at most at each",
            "reported",
            f"{apps} processes of the app, {model.processes} with models; {texts * ANSWER:.3g} MB/s between them,"
            f" {memory:.1f} GB",
        )
