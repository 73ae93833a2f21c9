"""Two or more ways to do the same thing, timed in turns."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Times:
    """Seconds of every repeat: processor time of this process's threads together, and time on the wall."""

    cpu: tuple[float, ...]
    wall: tuple[float, ...]


def time_in_turns(ways: Mapping[str, Callable[[], Any]], repeats: int, warm: int = 2) -> dict[str, Times]:
    """Every way ``repeats`` times in turns, after ``warm`` rounds that do not count.

    The order alternates from round to round, so that none always follows the same other one.
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
    """How much one way costs of another: ``cpu`` is the median over the rounds of the two processor times of a round,
    which is little disturbed by what else runs; ``wall`` the same on the wall; ``least`` compares the least times.
    """

    cpu: float
    wall: float
    least: float

    def __str__(self) -> str:
        return f"{self.cpu:.3g} (on the wall {self.wall:.3g}, least times {self.least:.3g})"


def ratio(one: Times, other: Times) -> Ratio:
    """Cost of ``one`` divided by that of ``other``.

    >>> ratio(Times((2.0, 3.0), (2.0, 3.0)), Times((1.0, 2.0), (1.0, 2.0))).cpu
    1.75
    """

    def rounds(ones: tuple[float, ...], others: tuple[float, ...]) -> float:
        return median(a / b for a, b in zip(ones, others, strict=True))

    return Ratio(rounds(one.cpu, other.cpu), rounds(one.wall, other.wall), min(one.cpu) / min(other.cpu))
