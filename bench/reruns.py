"""What a click and a new text cost on every page, on a fresh server and on one that has had visitors.

Two servers do the same in turns: the app as it is, which collects garbage while nobody waits, and the app with
Streamlit's own collection after every script run. Processor time is the server's alone, its threads together; bytes are
those of the WebSocket, unpacked. A click is the address of another head of the same text, as links and the browser's
back button send it.
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

EACH_RUN = "bench.each_run"  # what runs the app so that it collects after every script run
HEADS, TEXTS = 5, 2  # asked of every page, each time it is measured
SESSIONS, READ, CLICKS = 30, 100, 1  # visitors; texts that they read together; heads that they look at in each
GROWN = 1.25  # what a click may cost on a server that has had visitors, beside a fresh one


@dataclass(frozen=True)
class RerunCost:
    """Mean milliseconds of processor time and mean bytes of a rerun: of another head, and of another text."""

    head: float
    text: float
    head_bytes: float
    text_bytes: float

    def __str__(self) -> str:
        return f"{self.head:.0f} / {self.text:.0f} ms"


@dataclass(frozen=True)
class MeasuredServer:
    """A server and the session that measures it."""

    server: Server
    reader: AppSession

    def mean(self, page: str, asked: list[dict[str, object]]) -> tuple[float, float]:
        """Milliseconds and bytes of a rerun, over these."""
        began = processor_seconds(self.server.process)
        size = mean(self.reader.see(page, **query) for query in asked)
        return (processor_seconds(self.server.process) - began) * 1000 / len(asked), size

    def cost(self, page: str, texts: list[str]) -> RerunCost:
        """Of this page: ``texts`` are new to the server; the heads are those of the first one."""
        self.reader.see(page, text=texts[0])
        head, head_bytes = self.mean(page, [{"text": texts[0], **other_head(at)} for at in range(HEADS)])
        text, text_bytes = self.mean(page, [{"text": new} for new in texts[1:]])
        return RerunCost(head, text, head_bytes, text_bytes)


def other_head(at: int) -> dict[str, int]:
    """A head of the embedded model (6 layers of 12), another one each time."""
    return {"layer": at % 6, "head": (at * 5 + 1) % 12}


def measure() -> Iterator[ReportRow]:
    """A row for each page, then what visitors and collecting after each run make of a click, over all pages."""
    with ExitStack() as stack:
        servers = [stack.enter_context(app()), stack.enter_context(app(module=EACH_RUN))]
        sides = [MeasuredServer(server, stack.enter_context(visitor(server.url))) for server in servers]
        for side in sides:
            side.reader.see()
            for page in side.reader.pages:  # what a page loads at its first visit is not part of a rerun
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
    """The medians over pages of the ratios of a click: visited to fresh, and to collecting after each run."""
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
    """By page, of each side; the sides take turns to be first."""
    found: dict[str, list[RerunCost]] = {}
    source = sentences(seed)
    for turn, page in enumerate(sides[0].reader.pages):
        texts = list(islice(source, 1 + TEXTS))
        order = sides[:: 1 if turn % 2 else -1]
        taken = {id(side): side.cost(page, texts) for side in order}
        found[page] = [taken[id(side)] for side in sides]
    return found


def visits(stack: ExitStack, side: MeasuredServer) -> None:
    """Others come and stay: they read texts, look at some heads of each, and go from page to page."""
    others = [stack.enter_context(visitor(side.server.url)) for _ in range(SESSIONS)]
    pages = side.reader.pages
    for at, text in enumerate(islice(sentences(seed=3), READ)):
        other, page = others[at % SESSIONS], pages[at % len(pages)]
        other.see(page, text=text)
        for click in range(CLICKS):
            other.see(page, text=text, **other_head(at + click))
