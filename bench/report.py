"""Rows of a report, and the timing of alternatives that run in turns."""

from __future__ import annotations

import gc
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class ReportRow:
    """A row of the report: a measured value, its limit and a note; ``passed`` is None without a limit."""

    what: str
    bar: str
    figure: str
    passed: bool | None = None
    note: str = ""

    def cells(self) -> list[str]:
        """Return the row's cells for the Markdown table."""
        verdict = {True: "pass", False: "**fail**", None: "–"}[self.passed]
        return [self.what, self.bar, self.figure, verdict, self.note]


HEADINGS = ["what", "bar", "measured", "", "how"]


def table(rows: Iterable[ReportRow]) -> str:
    """Return the rows as a Markdown table.

    >>> print(table([ReportRow("forward", "≤ 1.10", "1.02", True)]))
    | what | bar | measured |  | how |
    |---|---|---|---|---|
    | forward | ≤ 1.10 | 1.02 | pass |  |
    """
    lines = [HEADINGS, *(row.cells() for row in rows)]
    texts = ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines]
    texts.insert(1, "|" + "---|" * len(HEADINGS))
    return "\n".join(texts)


def upper_limit_row(what: str, limit: float, value: float, figure: str, note: str = "") -> ReportRow:
    """Return a row for the measured value ``value``, which passes if it is at most ``limit``.

    ``what`` names the measurement, and ``figure`` is the value as printed in the report.
    """
    return ReportRow(what, f"≤ {limit:.3g}", figure, value <= limit, note)


def machine() -> str:
    """Describe the machine: cores, memory, system, and load average over the last minute."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{cores} cores, {memory:.0f} GiB, {system}; load before the run {os.getloadavg()[0]:.1f}"


@dataclass(frozen=True)
class Times:
    """The CPU time and the wall time of each repetition of a function, in seconds.

    CPU time counts all threads of this process.
    """

    cpu: tuple[float, ...]
    wall: tuple[float, ...]


def time_in_turns(ways: Mapping[str, Callable[[], Any]], repeats: int, warm: int = 2) -> dict[str, Times]:
    """Time several functions in turns: ``repeats`` rounds, after ``warm`` rounds that are not counted.

    The order is reversed in every round, so that no function always follows the same predecessor. Return the times by
    name.
    """
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for turn in range(-warm, repeats):
        for name in list(ways)[:: 1 if turn % 2 else -1]:
            gc.collect()
            wall, cpu = time.perf_counter(), time.process_time()
            result = ways[name]()
            spent = (time.process_time() - cpu, time.perf_counter() - wall)
            del result
            if turn >= 0:
                taken[name].append(spent)
    return {name: Times(*zip(*spent, strict=True)) for name, spent in taken.items()}


@dataclass(frozen=True)
class Ratio:
    """The cost of one function relative to that of another.

    ``cpu`` is the median over all rounds of the ratio of CPU times, which other load hardly affects. ``wall`` is the
    same median for wall time. ``least`` is the ratio of the smallest CPU times.
    """

    cpu: float
    wall: float
    least: float

    def __str__(self) -> str:
        return f"{self.cpu:.3g} (on the wall {self.wall:.3g}, least times {self.least:.3g})"


def ratio(one: Times, other: Times) -> Ratio:
    """Return the cost of the function timed in ``one``, relative to the function timed in ``other``.

    >>> ratio(Times((2.0, 3.0), (2.0, 3.0)), Times((1.0, 2.0), (1.0, 2.0))).cpu
    1.75
    """

    def rounds(ones: tuple[float, ...], others: tuple[float, ...]) -> float:
        return median(a / b for a, b in zip(ones, others, strict=True))

    return Ratio(rounds(one.cpu, other.cpu), rounds(one.wall, other.wall), min(one.cpu) / min(other.cpu))
