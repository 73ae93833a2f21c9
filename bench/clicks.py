"""Clicks on Explore by one visitor and by two hundred, as a simulated load."""

from __future__ import annotations

import http.client
import json
import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from bench.models import sentences
from bench.report import ReportRow, upper_limit_row
from bench.server import Server, app
from bench.visitor import PICTURE, AppSession, processor_seconds, visitor

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


CLICKS, TEXTS = 200, 60  # events that the mean cost is taken over
HEAD, TEXT, SENT = (
    5.0,
    15.0,
    2000,
)  # limits: CPU milliseconds of a head change, of a text without the model, and bytes of a head change
VISITORS, HEADS_A_SECOND, TEXTS_A_SECOND, SECONDS = 200, 60, 10, 30
WAIT_HEAD, WAIT_TEXT = 0.3, 2.0  # limits of the 95th percentile of latency in seconds
KEPT, RUN = 204, 409  # statuses of a click: stored without a rerun, or rerun needed

_OWN = threading.local()


class ExploreVisitor:
    """A visitor of Explore. A lock serialises its events, as for a single person."""

    def __init__(self, url: str, session: AppSession) -> None:
        self.session, self._lock = session, threading.Lock()
        self.host = url.removeprefix("http://")
        self.quiet = 0  # clicks that were stored without a rerun
        session.see()

    def ask(self, address: str, said: dict[str, Any] | None = None) -> tuple[int, int]:
        """Send a request and return its status and the bytes of both bodies."""
        if getattr(_OWN, "host", None) != self.host:
            _OWN.host, _OWN.line = self.host, http.client.HTTPConnection(self.host, timeout=120)
        body = None if said is None else json.dumps(said).encode()
        asked = ("GET" if body is None else "POST", address, body, {"Content-Type": "application/json"})
        try:
            _OWN.line.request(*asked)
            answer = _OWN.line.getresponse()
        except (
            http.client.RemoteDisconnected,
            ConnectionError,
        ):  # the idle connection was closed; browsers also reconnect
            _OWN.line.close()
            _OWN.line.request(*asked)
            answer = _OWN.line.getresponse()
        return answer.status, len(answer.read()) + len(body or b"")

    def map(self, what: str, **asked: int) -> None:
        """Request a map of the displayed text; raise RuntimeError if the request fails."""
        shown = self.session.picture
        numbers = "".join(f"&{name}={value}" for name, value in asked.items())
        status, _ = self.ask(f"{shown['base']}/{what}?{shown['view']}{numbers}")
        if status != 200:
            raise RuntimeError(f"A map was answered with {status}.")

    def tile(self, layer: int, head: int) -> None:
        """Request a head's complete map."""
        shown = self.session.picture
        rows, cols = len(shown["queries"]), len(shown["keys"] or shown["queries"])
        self.map("tile", layer=layer, head=head, q0=0, q1=rows, k0=0, k1=cols, size=512)

    def keep(self, pick: random.Random) -> int:
        """Select a random head and return the transferred bytes."""
        shown = self.session.picture
        shown["selection"] |= {"layer": pick.randrange(shown["layers"]), "head": pick.randrange(shown["heads"])}
        slip = shown.get("slip")
        if slip is not None:
            status, size = self.ask(slip["address"], {"slip": slip["token"], "selection": shown["selection"]})
            if status == KEPT:
                self.quiet += 1
                return size
            if status != RUN:
                raise RuntimeError(f"A click was answered with {status}.")
        # The page shows a message or a control that depends on the selection, so it reruns.
        return self.session.trigger(PICTURE, "selection", shown["selection"])

    def click(self, pick: random.Random) -> None:
        """Request a random head's map, then store a random selection."""
        with self._lock:
            self.tile(pick.randrange(self.session.picture["layers"]), pick.randrange(self.session.picture["heads"]))
            self.keep(pick)

    def read(self, text: str) -> None:
        """Submit a text and request its maps; raise RuntimeError if another text is displayed."""
        with self._lock:
            self.session.submit(text)
            shown = self.session.picture
            if shown["text"] != text:
                raise RuntimeError("Another text was shown.")
            self.map("grid", size=48)
            self.map("rows", query=int(shown["selection"]["focus"]))
            self.tile(shown["selection"]["layer"], shown["selection"]["head"])


def measure() -> Iterator[ReportRow]:
    """Yield rows for the cost of single events, then for many visitors."""
    with app() as server, ExitStack() as open_:
        reader = ExploreVisitor(server.url, open_.enter_context(visitor(server.url)))
        yield from texts_alone(server, reader)
        yield from heads_alone(server, reader)
        with ThreadPoolExecutor(IN_LINE) as pool:
            readers = list(
                pool.map(
                    lambda _: ExploreVisitor(server.url, open_.enter_context(visitor(server.url))), range(VISITORS)
                )
            )
        yield from concurrent_rows(server, readers)


def texts_alone(server: Server, reader: ExploreVisitor) -> Iterator[ReportRow]:
    """Yield rows for the cost of a new text on an idle server, alternating with the model's own work."""
    from inference import LocalBackend, TraceRequest

    backend, source = LocalBackend(), sentences(seed=20)
    for text in islice(source, 5):  # warm up, so that imports and caches are not measured
        backend.trace(TraceRequest(text=text))
        reader.read(text)
    model, run, painted = [list[float]() for _ in range(3)]
    received: list[int] = []
    for _ in range(TEXTS):
        alone, read, drawn = islice(source, 3)
        began = time.process_time()
        backend.trace(TraceRequest(text=alone))
        model.append((time.process_time() - began) * 1000)
        run.append(cost(server, [lambda text=read: received.append(reader.session.submit(text))]))  # type: ignore[misc]
        painted.append(cost(server, [lambda text=drawn: reader.read(text)]))  # type: ignore[misc]
    own, beyond = statistics.mean(model), statistics.mean(run) - statistics.mean(model)
    size = f"{statistics.mean(received) / 1000:.0f} kB, unpacked"
    note = f"{own + beyond:.1f} ms with the model's {own:.1f}; {size}"
    yield upper_limit_row("a new text on Explore beyond the model's own work", TEXT, beyond, f"{beyond:.1f} ms", note)
    whole = statistics.mean(painted) - own
    yield ReportRow("the same with the maps that it is painted with", "reported", f"{whole:.1f} ms")


def heads_alone(server: Server, reader: ExploreVisitor) -> Iterator[ReportRow]:
    """Yield rows for the cost of a head change on an idle server."""
    pick, sizes = random.Random(1), list[int]()
    reader.session.see(text="The animal didn't cross the street because it was too tired.")
    spent = cost(server, [lambda: sizes.append(reader.keep(pick))] * CLICKS)
    yield upper_limit_row(
        "a head change on Explore, server's processor", HEAD, spent, f"{spent:.1f} ms", "told without a run"
    )
    size = statistics.mean(sizes)
    address = "and some 150 bytes of the address by the WebSocket, headers not counted"
    yield upper_limit_row("bytes of a head change", SENT, size, f"{size:.0f}", address)
    drawn = cost(server, [lambda: reader.tile(pick.randrange(6), pick.randrange(12))] * CLICKS)
    yield ReportRow("the head's map beside it", "reported", f"{drawn:.1f} ms")


def cost(server: Server, events: list[Callable[[], None]]) -> float:
    """Return the server's mean CPU time per event in milliseconds."""
    began = processor_seconds(server.process)
    for event in events:
        event()
    return (processor_seconds(server.process) - began) * 1000 / len(events)


def concurrent_rows(server: Server, readers: list[ExploreVisitor]) -> Iterator[ReportRow]:
    """Yield rows for the latency of many visitors."""
    load = Load(HEADS_A_SECOND, TEXTS_A_SECOND, SECONDS)
    found = drive(server, readers, load, seed=24)
    how = f"{VISITORS} visitors, {load}{found.used()}"
    for waits, limit, what in (
        (found.heads, WAIT_HEAD, "a head: painted and told"),
        (found.texts, WAIT_TEXT, "a text: painted"),
    ):
        note = f"median {statistics.median(waits):.3f}, longest {max(waits):.2f}; {how}"
        yield upper_limit_row(f"{what}, 19 of 20", limit, p95(waits), f"{p95(waits):.2f} s", note)
    quiet = sum(reader.quiet for reader in readers)
    yield ReportRow("heads that were told without a run", "reported", f"{quiet} of {len(found.heads)}")
    yield ReportRow("errors", "0", found.wrong(), not found.errors)
