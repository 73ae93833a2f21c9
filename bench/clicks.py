"""The server's CPU time of a click and of a new text on Explore, and the latency for many visitors.

Visitors are simulated over Streamlit's protocol and request maps like the browser's script: a tile and the stored
selection for a head; for a text the rerun of its fragment, then the thumbnails, a row and a tile. CPU time is that
of all the server's threads. For a text, the model's own work is subtracted; it is measured in this process on
similar texts, alternating with the server.
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
