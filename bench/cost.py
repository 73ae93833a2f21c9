"""What so many visitors an hour need, by a formula and by playing it through: how many processes, and how one waits.

The times are measured ones (docs/LOG.md); how a visit goes is assumed. A process serves one after the other. A visitor
stays with one process of the app (a sticky proxy), a text goes to the replica that its key names.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import log

from bench.report import ReportRow

# Measured, in seconds of a processor: `python -m bench clicks`, `classroom` and `serving`.
CLICK = 0.0035  # a head change: 0.5 ms, and its map
TEXT = 0.015  # a new text beyond the model, and its answer of a megabyte read
OPENING = 0.14  # a visitor who comes: thirty took 4.1 s
MODEL = 0.015  # a text of 32 tokens through all-MiniLM-L6-v2, into bytes and out; others' lengths and models differ
ANSWER = 0.93  # MB of such a trace
REPLICA = 0.7  # GB of a process with a model
KEPT = 1.0  # GB that a process of the app may keep of traces and answers (HEADLIGHT_TRACE_MEMORY)

# Assumed of a visit.
STAY, TEXTS, CLICKS = 600.0, 6.0, 60.0  # seconds, and what is done in them
WAIT = 0.1  # seconds for which nineteen of twenty wait at most, at each of the two
BUSY = 0.7  # of its time a process may work, so that an hour is not all alike

Kinds = Sequence[tuple[float, float, float]]  # how many a second, the mean of their seconds, that of their squares


@dataclass(frozen=True)
class Need:
    """So many processes of one kind, how busy they are and how long nineteen of twenty wait at most."""

    processes: int
    busy: float
    wait: float


def app_kinds(visitors: float) -> Kinds:
    """What the app does a second, with visitors so many an hour: each takes as long as the other of its kind."""
    per_second = visitors / 3600
    done = ((1.0, OPENING), (TEXTS, TEXT), (CLICKS, CLICK))
    return [(per_second * many, seconds, seconds**2) for many, seconds in done]


def model_kinds(visitors: float) -> Kinds:
    """The same of models, whose texts are of all lengths: exponential times."""
    return [(visitors / 3600 * TEXTS, MODEL, 2 * MODEL**2)]


def formula(kinds: Kinds, processes: int) -> Need:
    """Pollaczek and Khinchine's mean wait of one line, with an exponential tail: nineteen of twenty wait at most so.

    >>> formula([(50.0, 0.01, 0.0002)], 1).busy
    0.5
    """
    busy = sum(many * seconds for many, seconds, _square in kinds) / processes
    if busy >= 1:
        return Need(processes, busy, float("inf"))
    mean = sum(many * square for many, _seconds, square in kinds) / processes / (2 * (1 - busy))
    return Need(processes, busy, max(0.0, mean / busy * log(busy / 0.05)))


def fewest_processes(kinds: Kinds) -> Need:
    """The fewest processes whose line is short enough."""
    found = (formula(kinds, processes) for processes in count(1))
    return next(need for need in found if need.busy <= BUSY and need.wait <= WAIT)


class Lines:
    """Processes that serve one after the other, and how long each who came waited."""

    def __init__(self, processes: int) -> None:
        self.free = [0.0] * processes
        self.waited: list[float] = []

    def passes(self, process: int, now: float, seconds: float) -> float:
        """When one who comes now has been served."""
        begins = max(now, self.free[process])
        self.waited.append(begins - now)
        self.free[process] = begins + seconds
        return self.free[process]

    @property
    def nineteen_of_twenty(self) -> float:
        """Seconds that they wait at most."""
        return sorted(self.waited)[int(len(self.waited) * 0.95)]


def play(visitors: float, apps: int, replicas: int, seconds: float, seed: int = 0) -> tuple[Lines, Lines]:
    """The lines before the app and before the models, after so many seconds of a crowd that is there already.

    A visitor comes, thinks, changes a head or writes a text, waits for it, thinks again, and leaves some time.
    """
    luck, app, model = random.Random(seed), Lines(apps), Lines(replicas)
    think = STAY / (TEXTS + CLICKS)
    leaves = 1 / (TEXTS + CLICKS)
    there = round(visitors / 3600 * STAY)
    # When, a number that no other has, whose process, and what: "opens", "acts" or "reads".
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
    """For a thousand and a hundred thousand visitors an hour: what is needed, and how long they wait."""
    for visitors, seconds in ((1_000, 3_600.0), (100_000, 60.0)):
        app, model = fewest_processes(app_kinds(visitors)), fewest_processes(model_kinds(visitors))
        apps, first = app.processes, play(visitors, app.processes, model.processes, seconds)
        played = first
        while played[0].nineteen_of_twenty > WAIT:  # the formula knows no line in which few take very long
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
