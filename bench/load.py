"""Load by many readers: events occur at fixed times, regardless of earlier responses."""

from __future__ import annotations

import random
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from bench.server import Server
from bench.texts import sentences
from bench.visitor import processor_seconds

IN_LINE = 64  # threads of the driver, each with its own connection


class EventReader(Protocol):
    """The interface of a simulated reader."""

    def click(self, pick: random.Random) -> None:
        """Select another head."""
        ...

    def read(self, text: str) -> None:
        """Submit another text."""
        ...


@dataclass(frozen=True)
class Load:
    """The number of events per second, and the duration in seconds."""

    heads: int
    texts: int
    seconds: int

    def __str__(self) -> str:
        return f"{self.heads} heads and {self.texts} texts a second for {self.seconds} s"

    def plan(self) -> list[tuple[float, bool]]:
        """Return (due time in seconds, True for a text) of each event, sorted.

        >>> Load(2, 1, 1).plan()
        [(0.0, False), (0.0, True), (0.5, False)]
        """
        found = [(at / self.heads, False) for at in range(self.heads * self.seconds)]
        return sorted(found + [(at / self.texts, True) for at in range(self.texts * self.seconds)])


@dataclass
class LoadResult:
    """Latencies in seconds from the due time of each event, errors, and CPU use."""

    heads: list[float] = field(default_factory=list)
    texts: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    took: float = 0.0
    server: float = 0.0  # mean number of CPUs used by the server, without its child processes
    driver: float = 0.0

    def used(self) -> str:
        """Format the CPU use."""
        return f" (took {self.took:.0f}); processors used: server {self.server:.2f}, driver {self.driver:.2f}"

    def wrong(self) -> str:
        """Format the number of errors and the most frequent error."""
        most = Counter(self.errors).most_common(1)
        return f"{len(self.errors)}" + (f": {most[0][0][:120]}" if most else "")


def p95(waits: list[float]) -> float:
    """Return the 95th percentile, or infinity if there are fewer than two values."""
    return statistics.quantiles(waits, n=20)[-1] if len(waits) > 1 else float("inf")


def drive(server: Server, readers: Sequence[EventReader], load: Load, seed: int) -> LoadResult:
    """Run all events of the load by random readers.

    Each text is new, and ``seed`` makes texts and readers reproducible.
    """
    pick, source, found = random.Random(seed), different(seed), LoadResult()

    def event(due: float, reads: bool, reader: EventReader, text: str, head: int) -> None:
        try:
            if reads:
                reader.read(text)
            else:
                reader.click(random.Random(head))
        except Exception as error:  # count the error, and let the other events continue
            found.errors.append(f"{type(error).__name__}: {error}")
        (found.texts if reads else found.heads).append(time.perf_counter() - due)

    began, mine, theirs = time.perf_counter() + 0.5, time.process_time(), processor_seconds(server.process)
    with ThreadPoolExecutor(IN_LINE) as pool:
        for after, reads in load.plan():
            time.sleep(max(0.0, began + after - time.perf_counter()))
            text = next(source) if reads else ""
            pool.submit(event, began + after, reads, pick.choice(readers), text, pick.randrange(10**6))
    found.took = time.perf_counter() - began
    found.driver = (time.process_time() - mine) / found.took
    found.server = (processor_seconds(server.process) - theirs) / found.took
    return found


def different(seed: int) -> Iterator[str]:
    """Yield sentences without duplicates."""
    known: set[str] = set()
    for text in sentences(seed):
        if text not in known:
            known.add(text)
            yield text
