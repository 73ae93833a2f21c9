"""The cost of rerunning the script of each page, and the memory of a server that has had many visitors."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import mean, median

from bench.models import sentences
from bench.report import ReportRow, upper_limit_row
from bench.server import Server, app
from bench.visitor import AppSession, processor_seconds, visitor
from bench.wrapped import EACH_RUN

MODES: tuple[dict[str, str], ...] = ({}, {EACH_RUN: "1"})  # collection while idle, and after every script run
HEADS, RERUNS_TEXTS = 5, 2  # events per page in each measurement
SESSIONS, READ, CLICKS = 30, 100, 1  # visitors; their texts in total; heads that they select per text
GROWN = 1.25  # limit of the ratio of a click's cost on a server in use to that on a new server


@dataclass(frozen=True)
class RerunCost:
    """The mean cost of rerunning a page's script after another head or another text is selected.

    ``head`` and ``text`` are CPU milliseconds; ``head_bytes`` and ``text_bytes`` are sent to the browser.
    """

    head: float
    text: float
    head_bytes: float
    text_bytes: float

    def __str__(self) -> str:
        return f"{self.head:.0f} / {self.text:.0f} ms"


@dataclass(frozen=True)
class MeasuredServer:
    """A server, and the session of a simulated visitor that is used to measure it."""

    server: Server
    reader: AppSession

    def mean(self, page: str, asked: list[dict[str, object]]) -> tuple[float, float]:
        """Open a page with each query in turn; return the mean CPU milliseconds and mean bytes."""
        began = processor_seconds(self.server.process)
        size = mean(self.reader.see(page, **query) for query in asked)
        return (processor_seconds(self.server.process) - began) * 1000 / len(asked), size

    def cost(self, page: str, texts: list[str]) -> RerunCost:
        """Measure the reruns of a page for other heads of the first text, and for the other texts.

        All texts must be new to the server.
        """
        self.reader.see(page, text=texts[0])
        head, head_bytes = self.mean(page, [{"text": texts[0], **other_head(at)} for at in range(HEADS)])
        text, text_bytes = self.mean(page, [{"text": new} for new in texts[1:]])
        return RerunCost(head, text, head_bytes, text_bytes)


def other_head(at: int) -> dict[str, int]:
    """Return the query that selects a head of the embedded model: head number ``at`` of a fixed sequence."""
    return {"layer": at % 6, "head": (at * 5 + 1) % 12}


def measure_reruns() -> Iterator[ReportRow]:
    """Yield a row with the rerun costs of each page, then rows with medians of ratios over all pages."""
    with ExitStack() as stack:
        servers = [stack.enter_context(app(mode, "bench.wrapped")) for mode in MODES]
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
    """Yield two rows with the relative cost of selecting another head, as a median over all pages.

    ``fresh`` and ``later`` map each page to its costs on two servers, before and after many visitors. The first server
    collects garbage while idle, the second after every run. The first row compares the first server with itself before
    the visitors, and the second row compares it with the second server.
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
    """Return the costs of rerunning every page, by page: a list in the order of the servers ``sides``.

    The servers take turns to be measured first.
    """
    found: dict[str, list[RerunCost]] = {}
    source = sentences(seed)
    for turn, page in enumerate(sides[0].reader.pages):
        texts = list(islice(source, 1 + RERUNS_TEXTS))
        order = sides[:: 1 if turn % 2 else -1]
        taken = {id(side): side.cost(page, texts) for side in order}
        found[page] = [taken[id(side)] for side in sides]
    return found


def visits(stack: ExitStack, side: MeasuredServer) -> None:
    """Simulate many visitors of a server, who read texts on all pages.

    Their sessions stay open until ``stack`` is closed.
    """
    others = [stack.enter_context(visitor(side.server.url)) for _ in range(SESSIONS)]
    pages = side.reader.pages
    for at, text in enumerate(islice(sentences(seed=3), READ)):
        other, page = others[at % SESSIONS], pages[at % len(pages)]
        other.see(page, text=text)
        for click in range(CLICKS):
            other.see(page, text=text, **other_head(at + click))


HELD_TEXTS, CHANGES, MODELS, A_SESSION = 1000, 20, 3, 50  # A_SESSION is the number of texts per visitor
MOST = 1.1  # ratio of memory to that with garbage collection after every run
LIMITS = {"HEADLIGHT_MODEL_MEMORY": "400MB", "HEADLIGHT_TRACE_MEMORY": "100MB"}  # two of the three models fit
REST = 15.0  # idle seconds, longer than the delay of the idle collection (ui/run/idle_collection.py)
MOMENTS = ("after the first text", "after the texts", "at rest", "after the model changes", "at rest again", "peak")


def measure_held() -> Iterator[ReportRow]:
    """Yield rows for the memory of a server that collects garbage while idle, relative to after every run.

    There is a row for each of the MOMENTS in the server's life.
    """
    with tempfile.TemporaryDirectory() as name:
        models = [save(Path(name) / f"model-{at}", at) for at in range(MODELS)]
        mine, theirs = (measure_resident_memory(mode, Path(name), models) for mode in MODES)
    for moment, ours, other in zip(MOMENTS, mine, theirs, strict=True):
        figure = f"{ours / other:.2f} ({ours / 2**20:.0f} against {other / 2**20:.0f} MiB)"
        sessions = HELD_TEXTS // A_SESSION
        note = f"{HELD_TEXTS:,} texts of {sessions} sessions without a pause, then {CHANGES} changes of model"
        yield upper_limit_row(
            f"memory held {moment}: collecting while idle / after each run", MOST, ours / other, figure, note
        )


def measure_resident_memory(mode: dict[str, str], folder: Path, models: list[Path]) -> list[int]:
    """Run a server through many texts and model changes; return its resident bytes at each of the MOMENTS.

    ``mode``, one of MODES, selects the kind of garbage collection.
    """
    with app({**LIMITS, **mode, "HEADLIGHT_MODEL_FOLDERS": str(folder)}, "bench.wrapped") as server:
        read(server, [{}])
        found = [server.resident()]
        source = sentences(seed=5)
        for _ in range(HELD_TEXTS // A_SESSION):
            read(server, [{"text": text} for text in islice(source, A_SESSION)])
        found.append(server.resident())
        time.sleep(REST)
        found.append(server.resident())
        read(server, [{"model": models[at % MODELS], "text": next(source)} for at in range(CHANGES)])
        found.append(server.resident())
        time.sleep(REST)
        return [*found, server.resident(), server.peak()]


def read(server: Server, queries: list[dict[str, object]]) -> None:
    """Open the app with each query, one after another, in a single visitor's session."""
    with visitor(server.url) as other:
        for query in queries:
            other.see("", **query)


def save(folder: Path, seed: int) -> Path:
    """Save a BERT with random weights (140 MB) and the embedded model's tokenizer in a folder."""
    import torch
    from transformers import BertConfig, BertModel

    from inference.files import embedded

    torch.manual_seed(seed)
    config = BertConfig(hidden_size=512, num_hidden_layers=6, num_attention_heads=8, intermediate_size=2048)
    BertModel(config).save_pretrained(folder)
    for file in embedded.folder().glob("*token*.json"):
        shutil.copy(file, folder)
    shutil.copy(embedded.folder() / "vocab.txt", folder)
    return folder
