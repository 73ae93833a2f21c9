"""The cost of a click and of a new text on every page, on a new server and on a server in use.

Two servers do the same work alternately: the app, which collects garbage while idle, and the app with Streamlit's
collection after every script run. CPU time is that of all the server's threads; bytes are those of the WebSocket,
uncompressed. A click is the address of another head of the same text, as links and the browser's back button send
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from statistics import mean, median

from bench.report import ReportRow, upper_limit_row
from bench.server import Server, app
from bench.texts import sentences
from bench.visitor import AppSession, processor_seconds, visitor

EACH_RUN = "bench.each_run"  # the module that runs the app with collection after every script run
HEADS, TEXTS = 5, 2  # events per page in each measurement
SESSIONS, READ, CLICKS = 30, 100, 1  # visitors; their texts in total; heads that they select per text
GROWN = 1.25  # limit of the ratio of a click's cost on a server in use to that on a new server


@dataclass(frozen=True)
class RerunCost:
    """Mean CPU milliseconds and mean bytes of a rerun, for another head and for another text."""

    head: float
    text: float
    head_bytes: float
    text_bytes: float

    def __str__(self) -> str:
        return f"{self.head:.0f} / {self.text:.0f} ms"


@dataclass(frozen=True)
class MeasuredServer:
    """A server, and the session that measures it."""

    server: Server
    reader: AppSession

    def mean(self, page: str, asked: list[dict[str, object]]) -> tuple[float, float]:
        """Return the mean CPU milliseconds and the mean bytes of a rerun over the given queries."""
        began = processor_seconds(self.server.process)
        size = mean(self.reader.see(page, **query) for query in asked)
        return (processor_seconds(self.server.process) - began) * 1000 / len(asked), size

    def cost(self, page: str, texts: list[str]) -> RerunCost:
        """Measure a page; ``texts`` must be new to the server, and heads are selected for the first text."""
        self.reader.see(page, text=texts[0])
        head, head_bytes = self.mean(page, [{"text": texts[0], **other_head(at)} for at in range(HEADS)])
        text, text_bytes = self.mean(page, [{"text": new} for new in texts[1:]])
        return RerunCost(head, text, head_bytes, text_bytes)


def other_head(at: int) -> dict[str, int]:
    """Return a head of the embedded model (6 layers of 12 heads) that varies with ``at``."""
    return {"layer": at % 6, "head": (at * 5 + 1) % 12}


def measure() -> Iterator[ReportRow]:
    """Yield a row for each page, then the ratios over all pages."""
    with ExitStack() as stack:
        servers = [stack.enter_context(app()), stack.enter_context(app(module=EACH_RUN))]
        sides = [MeasuredServer(server, stack.enter_context(visitor(server.url))) for server in servers]
        for side in sides:
            side.reader.see()
            for page in side.reader.pages:  # exclude imports at the first visit of a page
                side.reader.see(page)
        fresh = costs(sides, seed=1)
        for side in sides:
            visits(stack, side)
        later = costs(sides, seed=2)
    for page, (mine, theirs) in later.items():
        was, they_were = fresh[page]
        note = (
            f"fresh {was}: {mine.head / was.head:.2f} / {mine.text / was.text:.2f} times; "
            f"collecting after each run {theirs}, fresh {they_were}"
        )
        sent = f"{mine.head_bytes / 1000:.0f} / {mine.text_bytes / 1000:.0f} kB"
        yield ReportRow(f"rerun of {page or 'explore'}: another head / text", "reported", f"{mine}; {sent}", None, note)
    yield from ratio_rows(fresh, later)


def ratio_rows(fresh: dict[str, list[RerunCost]], later: dict[str, list[RerunCost]]) -> Iterator[ReportRow]:
    """Yield the median ratios of a click's cost over all pages.

    The ratios are those of the server in use to the new server, and of idle collection to collection after every
    run.
    """
    grown = [median(later[page][side].head / fresh[page][side].head for page in later) for side in (0, 1)]
    click, text = (
        median(getattr(mine, kind) / getattr(theirs, kind) for mine, theirs in later.values())
        for kind in ("head", "text")
    )
    visited = f"{SESSIONS} sessions with {READ} texts and {READ * CLICKS} heads"
    figure = f"{grown[0]:.2f}; collecting after each run {grown[1]:.2f}"
    note = "processor time, median over pages"
    yield upper_limit_row(f"another head: after {visited} / on a fresh server", GROWN, grown[0], figure, note)
    figure = f"{click:.2f}; another text {text:.2f}"
    yield upper_limit_row(
        "another head: collecting while idle / after each run, after visits", 1.0, click, figure, note
    )


def costs(sides: list[MeasuredServer], seed: int) -> dict[str, list[RerunCost]]:
    """Return the cost of each page on each server; the servers take turns to be first."""
    found: dict[str, list[RerunCost]] = {}
    source = sentences(seed)
    for turn, page in enumerate(sides[0].reader.pages):
        texts = list(islice(source, 1 + TEXTS))
        order = sides[:: 1 if turn % 2 else -1]
        taken = {id(side): side.cost(page, texts) for side in order}
        found[page] = [taken[id(side)] for side in sides]
    return found


def visits(stack: ExitStack, side: MeasuredServer) -> None:
    """Simulate visitors who read texts on all pages and select heads; their sessions stay open."""
    others = [stack.enter_context(visitor(side.server.url)) for _ in range(SESSIONS)]
    pages = side.reader.pages
    for at, text in enumerate(islice(sentences(seed=3), READ)):
        other, page = others[at % SESSIONS], pages[at % len(pages)]
        other.see(page, text=text)
        for click in range(CLICKS):
            other.see(page, text=text, **other_head(at + click))
