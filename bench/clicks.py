"""What a click and a new text on Explore cost the server, and what visitors wait when many look at once.

A visitor speaks Streamlit's protocol and asks for maps as the browser's script does: for a head its tile and that it is
kept, for a text the run of its part of the page, and then every map small, a row and a tile. Processor time is the
server's alone, its threads together; of a text the model's own work is taken off, which is measured in this process, on
texts of the same kind, in turns with the server.
"""

from __future__ import annotations

import http.client
import json
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from typing import Any

from bench.load import IN_LINE, Load, drive, p95
from bench.report import ReportRow, upper_limit_row
from bench.server import Server, app
from bench.texts import sentences
from bench.visitor import PICTURE, AppSession, processor_seconds, visitor

CLICKS, TEXTS = 200, 60  # by which one event's cost is told
HEAD, TEXT, SENT = 5.0, 15.0, 2000  # promised: ms of a head change and of a text beyond the model, bytes of the first
VISITORS, HEADS_A_SECOND, TEXTS_A_SECOND, SECONDS = 200, 60, 10, 30
WAIT_HEAD, WAIT_TEXT = 0.3, 2.0  # s that 19 of 20 wait at most
KEPT, RUN = 204, 409  # what a click is answered with

_OWN = threading.local()


class ExploreVisitor:
    """A visitor with a picture. Its events come one after the other, as one person's do."""

    def __init__(self, url: str, session: AppSession) -> None:
        self.session, self._lock = session, threading.Lock()
        self.host = url.removeprefix("http://")
        self.quiet = 0  # clicks that were kept without a run
        session.see()

    def ask(self, address: str, said: dict[str, Any] | None = None) -> tuple[int, int]:
        """Status, and bytes that went and came."""
        if getattr(_OWN, "host", None) != self.host:
            _OWN.host, _OWN.line = self.host, http.client.HTTPConnection(self.host, timeout=120)
        body = None if said is None else json.dumps(said).encode()
        asked = ("GET" if body is None else "POST", address, body, {"Content-Type": "application/json"})
        try:
            _OWN.line.request(*asked)
            answer = _OWN.line.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):  # it was idle for too long; browsers ask again, too
            _OWN.line.close()
            _OWN.line.request(*asked)
            answer = _OWN.line.getresponse()
        return answer.status, len(answer.read()) + len(body or b"")

    def map(self, what: str, **asked: int) -> None:
        """One of the picture's maps."""
        shown = self.session.picture
        numbers = "".join(f"&{name}={value}" for name, value in asked.items())
        status, _ = self.ask(f"{shown['base']}/{what}?{shown['view']}{numbers}")
        if status != 200:
            raise RuntimeError(f"A map was answered with {status}.")

    def tile(self, layer: int, head: int) -> None:
        """A whole map."""
        shown = self.session.picture
        rows, cols = len(shown["queries"]), len(shown["keys"] or shown["queries"])
        self.map("tile", layer=layer, head=head, q0=0, q1=rows, k0=0, k1=cols, size=512)

    def keep(self, pick: random.Random) -> int:
        """Another head is kept; bytes that went and came for it."""
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
        # Something is said or offered that a click changes.
        return self.session.trigger(PICTURE, "selection", shown["selection"])

    def click(self, pick: random.Random) -> None:
        """Another head: painted, then told."""
        with self._lock:
            self.tile(pick.randrange(self.session.picture["layers"]), pick.randrange(self.session.picture["heads"]))
            self.keep(pick)

    def read(self, text: str) -> None:
        """Another text, painted."""
        with self._lock:
            self.session.submit(text)
            shown = self.session.picture
            if shown["text"] != text:
                raise RuntimeError("Another text was shown.")
            self.map("grid", size=48)
            self.map("rows", query=int(shown["selection"]["focus"]))
            self.tile(shown["selection"]["layer"], shown["selection"]["head"])


def measure() -> Iterator[ReportRow]:
    """What one event costs, then many visitors at once."""
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
    """What a new text costs where nobody else is there, in turns with the model alone."""
    from inference import LocalBackend, TraceRequest

    backend, source = LocalBackend(), sentences(seed=20)
    for text in islice(source, 5):  # what the first ones load is no part of a text
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
    """What another head costs where nobody else is there."""
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
    """Milliseconds of the server's processor that one of these takes."""
    began = processor_seconds(server.process)
    for event in events:
        event()
    return (processor_seconds(server.process) - began) * 1000 / len(events)


def concurrent_rows(server: Server, readers: list[ExploreVisitor]) -> Iterator[ReportRow]:
    """What they wait."""
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
