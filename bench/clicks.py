"""A load test of the page Explore: clicks and texts by a single visitor and by two hundred, and an overload."""

from __future__ import annotations

import http.client
import json
import random
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from bench.models import count_embedded, sentences, text_of
from bench.report import ReportRow, upper_limit_row
from bench.server import Server, app
from bench.visitor import PICTURE, AppSession, BusyVisitor, open_session, processor_seconds, visitor

IN_LINE = 64  # threads of the driver, each with its own connection


class EventReader(Protocol):
    """The interface of a simulated visitor, who can select heads and submit texts."""

    def click(self, pick: random.Random) -> None:
        """Select another head than the selected head."""
        ...

    def read(self, text: str) -> None:
        """Submit another text."""
        ...


@dataclass(frozen=True)
class Load:
    """The load of a test: head selections per second, new texts per second, and the duration in seconds."""

    heads: int
    texts: int
    seconds: int

    def __str__(self) -> str:
        return f"{self.heads} heads and {self.texts} texts a second for {self.seconds} s"

    def plan(self) -> list[tuple[float, bool]]:
        """Return the events of the load as pairs (due time in seconds, kind), sorted.

        The kind is True for a new text and False for the selection of a head.

        >>> Load(2, 1, 1).plan()
        [(0.0, False), (0.0, True), (0.5, False)]
        """
        found = [(at / self.heads, False) for at in range(self.heads * self.seconds)]
        return sorted(found + [(at / self.texts, True) for at in range(self.texts * self.seconds)])


@dataclass
class LoadResult:
    """The result of a load test: latencies in seconds, errors and CPU use.

    A latency is the time from the moment at which an event was due until it was done.
    """

    heads: list[float] = field(default_factory=list)
    texts: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    took: float = 0.0
    server: float = 0.0  # mean number of CPUs used by the server, without its child processes
    driver: float = 0.0

    def used(self) -> str:
        """Return the mean number of CPUs that server and load generator used, as text for the report."""
        return f" (took {self.took:.0f}); processors used: server {self.server:.2f}, driver {self.driver:.2f}"

    def wrong(self) -> str:
        """Return the number of errors and the most frequent error, as text for the report."""
        most = Counter(self.errors).most_common(1)
        return f"{len(self.errors)}" + (f": {most[0][0][:120]}" if most else "")


def p95(waits: list[float]) -> float:
    """Return the 95th percentile of latencies, or infinity if there are fewer than two."""
    return statistics.quantiles(waits, n=20)[-1] if len(waits) > 1 else float("inf")


def drive(server: Server, readers: Sequence[EventReader], load: Load, seed: int) -> LoadResult:
    """Run all events of a load, each at its due time by a random visitor, and return the latencies.

    ``readers`` are the visitors. Every submitted text is new. ``seed`` makes texts and the choice of visitors
    reproducible.
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
    """Yield sentences without end, each a different sentence."""
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
    """A simulated visitor of the page Explore; a lock lets the visitor's events run one after another."""

    def __init__(self, url: str, session: AppSession) -> None:
        self.session, self._lock = session, threading.Lock()
        self.host = url.removeprefix("http://")
        self.quiet = 0  # clicks that were stored without a rerun
        session.see()

    def ask(self, address: str, said: dict[str, Any] | None = None) -> tuple[int, int]:
        """Send an HTTP request (POST if ``said`` is given); return the status, and the bytes of both bodies."""
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
        """Request data of the displayed text, such as a "tile"; raise RuntimeError if the request fails."""
        shown = self.session.picture
        numbers = "".join(f"&{name}={value}" for name, value in asked.items())
        status, _ = self.ask(f"{shown['base']}/{what}?{shown['view']}{numbers}")
        if status != 200:
            raise RuntimeError(f"A map was answered with {status}.")

    def tile(self, layer: int, head: int) -> None:
        """Request the complete attention map of a head of the displayed text."""
        shown = self.session.picture
        rows, cols = len(shown["queries"]), len(shown["keys"] or shown["queries"])
        self.map("tile", layer=layer, head=head, q0=0, q1=rows, k0=0, k1=cols, size=512)

    def keep(self, pick: random.Random) -> int:
        """Select a random head on the page Explore, as a click does; return the transferred bytes.

        Only the selection is sent, if the page has a token that allows this. The page's script runs if the server asks
        for it.
        """
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
        """Request the map of a random head, then select a random head."""
        with self._lock:
            self.tile(pick.randrange(self.session.picture["layers"]), pick.randrange(self.session.picture["heads"]))
            self.keep(pick)

    def read(self, text: str) -> None:
        """Submit a text and request the maps of its view; raise RuntimeError if another text is displayed."""
        with self._lock:
            self.session.submit(text)
            shown = self.session.picture
            if shown["text"] != text:
                raise RuntimeError("Another text was shown.")
            self.map("grid", size=48)
            self.map("rows", query=int(shown["selection"]["focus"]))
            self.tile(shown["selection"]["layer"], shown["selection"]["head"])


def measure() -> Iterator[ReportRow]:
    """Measure the cost of single events, then the latency for many visitors; yield the rows."""
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
    """Yield rows for the CPU time of a new text on an idle server, without the time that the model takes."""
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
    """Yield rows for the CPU time and the bytes of selecting a head on an idle server."""
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
    """Run events one after another; return the server's mean CPU time per event in milliseconds."""
    began = processor_seconds(server.process)
    for event in events:
        event()
    return (processor_seconds(server.process) - began) * 1000 / len(events)


def concurrent_rows(server: Server, readers: list[ExploreVisitor]) -> Iterator[ReportRow]:
    """Yield rows for the latency of head selections and texts while many visitors use the server."""
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


CROWD_VISITORS, SUBMITS, CROWD_TOKENS = 200, 10, 500  # visitors; texts per second; tokens per text
AGAIN, TRIES, REST = "try again soon", 100, 2.0  # text of the busy message; maximum retries; seconds before a retry
AFTERWARDS = 0.5  # limit in seconds for a short text after the overload


class RetryingVisitor(BusyVisitor):
    """A simulated visitor who submits a text and retries while the page reports that it is busy."""

    told = 0  # number of refusals

    def read(self, text: str) -> None:
        """Submit a text and retry until it is displayed.

        Raise RuntimeError on any error except the busy message, or after TRIES retries.
        """
        self.refusal, before = "", self.picture.get("text")
        self.submit(text)
        for _ in range(TRIES):
            if self.picture["text"] == text:
                return
            if AGAIN not in self.refusal:
                raise RuntimeError(f"Neither read nor refused, and {before!r} still stands: {self.refusal}")
            self.told += 1
            self.refusal = ""
            time.sleep(REST)
            self.press("Try again")
        raise RuntimeError("A text was lost.")


def overload_rows(seconds: int) -> Iterator[ReportRow]:
    """Overload the server with texts for some seconds; yield rows for the outcome.

    The rows are the number of texts that were read, the errors, and the time of a short text afterwards.
    """
    with app() as server, ExitStack() as open_:
        sessions = open_visitors(server, open_)
        began = time.perf_counter()
        submitted, errors = submit(sessions, seconds)
        took, told = time.perf_counter() - began, sum(session.told for session in sessions)
        with visitor(server.url) as session:
            reader, began = ExploreVisitor(server.url, session), time.perf_counter()
            reader.read("Afterwards a short sentence is read.")
            after = time.perf_counter() - began
    read = submitted - len(errors)
    how = (
        f"{CROWD_VISITORS} visitors, {CROWD_TOKENS} tokens each, {seconds} s and {took - seconds:.0f} more until the"
        " last was read;"
        f" told {told:,} times to try again, so {(submitted + told) / took:.0f} submits a second in all"
    )
    yield ReportRow(
        f"texts read of those that were submitted, {seconds} s at {SUBMITS} a second",
        f"{submitted:,}",
        f"{read:,}",
        not errors,
        how,
    )
    most_errors = Counter(errors).most_common(1)
    yield ReportRow(
        "of these, lost or without a word", "0", str(len(errors)), not errors, f"{most_errors}" if errors else ""
    )
    yield upper_limit_row("a short text right afterwards", AFTERWARDS, after, f"{after:.2f} s")


def open_visitors(server: Server, open_: ExitStack) -> list[RetryingVisitor]:
    """Open a session for each simulated visitor of the overload test; ``open_`` closes the sessions."""

    def one(_: int) -> RetryingVisitor:
        session = open_.enter_context(open_session(server.url, RetryingVisitor))
        session.see()
        return session

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(one, range(CROWD_VISITORS)))


def submit(sessions: list[RetryingVisitor], seconds: int) -> tuple[int, list[str]]:
    """Let idle visitors submit texts at a fixed rate; return the number of texts, and the errors.

    A visitor is idle if the last text was read or has failed. The function returns after the last text.
    """
    free, errors = SimpleQueue[RetryingVisitor](), list[str]()
    for session in sessions:
        free.put(session)

    def one(session: RetryingVisitor, number: int) -> None:
        try:
            session.read(text_of(CROWD_TOKENS, count_embedded, seed=1000 + number))
        except Exception as error:  # count the error, and let the other visitors continue
            errors.append(f"{type(error).__name__}: {error}")
        finally:
            free.put(session)

    count_embedded("")  # transformers' lazy imports are not thread-safe
    began, on_the_way = time.perf_counter(), list[Future[None]]()
    with ThreadPoolExecutor(len(sessions)) as pool:
        for number in range(SUBMITS * seconds):
            time.sleep(max(0.0, began + number / SUBMITS - time.perf_counter()))
            with suppress(Empty):  # no visitor is idle; all of them are retrying
                on_the_way.append(pool.submit(one, free.get_nowait(), number))
            if number % (60 * SUBMITS) == 0:
                print_progress(on_the_way, errors)
        while wait(on_the_way, 60).not_done:
            print_progress(on_the_way, errors)
    return len(on_the_way), errors


def print_progress(on_the_way: list[Future[None]], errors: list[str]) -> None:
    """Print how many texts were submitted, done and failed, because the measurement takes minutes."""
    done = sum(one.done() for one in on_the_way)
    print(
        f"{len(on_the_way):,} texts submitted, {done:,} done, {len(errors)} of them wrong", file=sys.stderr, flush=True
    )
