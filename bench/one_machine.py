"""Latency of thirty readers during long jobs of other visitors, and memory after a thousand texts.

Run `python -m bench machine [PART ...]`. Readers submit different texts and select different heads, as in
bench/clicks.py. Meanwhile a visitor ablates every head on the page Cause, a visitor computes vectors of 10,000
sentences and their UMAP projection, a visitor fine-tunes a model, and a visitor reads 8,192 tokens: each job
separately, then all jobs together. Each part starts a new server. The progress of the long jobs is reported too,
because readers would not wait if the jobs were starved.
"""

from __future__ import annotations

import re
import tempfile
import threading
import time
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from statistics import median

from bench.clicks import ExploreVisitor, Load, LoadResult, different, drive, p95
from bench.crowd import overload_rows
from bench.long import TOKENS
from bench.models import count_embedded, count_long, save_long, text_of
from bench.report import ReportRow, upper_limit_row
from bench.server import Server, app
from bench.visitor import BusyVisitor, open_session, visitor

READERS, LOAD = 30, Load(heads=10, texts=5, seconds=20)
PATIENCE = 300.0  # limit in seconds for preparations
WAIT = 0.5  # limit of the 95th percentile of latency in seconds
SENTENCES = 10_000
STEPPED = re.compile(r"step [1-9]")  # progress of a training that has started
LENGTH = 200  # tokens of a text for the ablations
TEXTS, A_READER = 1000, 50  # texts before memory is measured, and texts per visitor
TRACES, SURVEYS = 100_000_000, 256 * 2**20  # budgets of the server's caches in bytes
SUBMITTING = {"minute": 60, "ten-minutes": 600}  # duration of the overload (bench/crowd.py) in seconds
LIMITS = {"HEADLIGHT_TRACE_MEMORY": str(TRACES)}


def measure(*parts: str) -> Iterator[ReportRow]:
    """Yield rows without and with long jobs, for a common text, for memory and for overload.

    ``parts`` selects some of them; the overload of ten minutes runs only if it is named. Raise ValueError if a
    part is unknown.
    """
    every = {"alone": (), **{name: (name,) for name in WORK}, "all": tuple(WORK)}
    known = [*every, "same", "thousand", *SUBMITTING]
    if unknown := [part for part in parts if part not in known]:
        raise ValueError(f"There is no part {unknown[0]!r}; there are {', '.join(known)}.")
    with tempfile.TemporaryDirectory() as name:
        places = LongModels(Path(name))
        for part in parts or [part for part in known if part != "ten-minutes"]:
            if part == "same":
                yield from same_text()
            elif part == "thousand":
                yield from thousand()
            elif part in SUBMITTING:
                yield from overload_rows(SUBMITTING[part])
            else:
                yield from measure_readers([WORK[name] for name in every[part]], places)


class LongModels:
    """The folders of the long model and of fine-tuned models, as environment variables."""

    def __init__(self, folder: Path) -> None:
        self.long = save_long(folder / "models" / "long")
        self.environment = {
            "HEADLIGHT_MODEL_FOLDERS": str(folder / "models"),
            "HEADLIGHT_TAUGHT": str(folder / "taught"),
        }


class LongJob(ABC):
    """A visitor's long job: ``prepare`` is not measured, ``work`` runs during the measurement.

    The event ``over`` ends the job.
    """

    what: str

    def __init__(self, server: Server, session: BusyVisitor, places: LongModels) -> None:
        self.server, self.session, self.places = server, session, places
        self.over = threading.Event()
        self.said = "not begun"

    @abstractmethod
    def prepare(self) -> None:
        """Prepare the job before the measurement."""

    @abstractmethod
    def work(self) -> None:
        """Run the job until it is done or ``over`` is set."""


class AblationJob(LongJob):
    """The ablation of every head, for one text after another."""

    what = "Cause over all heads"

    def prepare(self) -> None:
        """Open the page."""
        self.session.see("cause", text="The baker bought a lantern.")

    def work(self) -> None:
        """Ablate texts until ``over`` is set."""
        for done in range(10**6):
            self.said = f"{done} texts of {LENGTH} tokens"
            if self.over.is_set():
                return
            self.session.see("cause", text=text_of(LENGTH, count_embedded, seed=100 + done))


class VectorsJob(LongJob):
    """The computation of many sentences' vectors."""

    what = f"vectors of {SENTENCES:,} sentences"

    def prepare(self) -> None:
        """Open the page and upload the file."""
        self.session.see("vectors", show="sentences", bring="file")
        texts = "\n".join(islice(different(seed=7), SENTENCES))
        self.session.bring(self.server.url, "sentences.txt", texts.encode())

    def work(self) -> None:
        """Compute all vectors; raise RuntimeError if that takes too long."""
        began = time.perf_counter()
        self.session.press(f"Make {SENTENCES:,} vectors")
        while not (self.over.wait(0.5) or self.session.pictures):
            self.session.look()
            self.said = "made" if self.session.pictures else self.session.progress
            if time.perf_counter() - began > PATIENCE:
                raise RuntimeError(f"The vectors are not made: {self.said}")


class UmapJobRun(VectorsJob):
    """The UMAP projection of many sentences' vectors."""

    what = f"UMAP of {SENTENCES:,} sentences"

    def prepare(self) -> None:
        """Compute the vectors."""
        super().prepare()
        super().work()

    def work(self) -> None:
        """Project the vectors to two and then to three dimensions."""
        self.said = "begun"
        for axes in (2, 3):
            began = time.perf_counter()
            self.session.see("vectors", show="sentences", bring="file", flat="umap", axes=axes)
            while not self.session.pictures:
                if self.over.wait(0.5):
                    return
                self.session.look()
            self.said = f"{axes} axes after {time.perf_counter() - began:.0f} s"


class TrainingJob(LongJob):
    """The fine-tuning of a model."""

    what = "a fine-tuning"

    def prepare(self) -> None:
        """Start the training and wait for its first steps; raise RuntimeError if that takes too long."""
        self.session.see("teach", data="snips-intents", minutes=10)
        began = time.perf_counter()
        self.session.press("Teach")
        while not STEPPED.search(self.session.progress):
            if time.perf_counter() - began > PATIENCE:
                raise RuntimeError(f"Nothing is learned: {self.session.progress}")
            time.sleep(0.5)
            self.session.look()

    def work(self) -> None:
        """Follow the training until ``over`` is set."""
        first = self.session.progress
        while not self.over.wait(0.5):
            self.session.look()
            self.said = f"from {first!r} to {self.session.progress!r}"


class LongTextJob(LongJob):
    """The reading of a long text."""

    what = f"a text of {TOKENS:,} tokens"

    def prepare(self) -> None:
        """Load the model."""
        self.session.see("", model=self.places.long, text="The baker bought a lantern.")

    def work(self) -> None:
        """Submit the text and wait for it."""
        began = time.perf_counter()
        self.said = "not read yet"
        self.session.submit(text_of(TOKENS, count_long, seed=4))
        self.said = f"read after {time.perf_counter() - began:.0f} s"


WORK: dict[str, type[LongJob]] = {
    "cause": AblationJob,
    "vectors": VectorsJob,
    "umap": UmapJobRun,
    "training": TrainingJob,
    "tokens": LongTextJob,
}


def measure_readers(kinds: list[type[LongJob]], places: LongModels) -> Iterator[ReportRow]:
    """Yield rows for the readers' latency during the given jobs."""
    with app(places.environment) as server, ExitStack() as open_:
        jobs = [kind(server, open_.enter_context(open_session(server.url, BusyVisitor)), places) for kind in kinds]
        readers = open_readers(server, open_)
        for job in jobs:
            job.prepare()
        with ThreadPoolExecutor(max(1, len(jobs))) as pool:
            done = [pool.submit(job.work) for job in jobs]
            time.sleep(1)  # let the jobs start
            found = drive(server, readers, LOAD, seed=24)
            how = [f"{job.what}: {job.said}" for job in jobs]
            for job in jobs:
                job.over.set()
            server.end()
            for one in done:
                one.exception()  # ignore errors of jobs that were interrupted
    yield from waits(" + ".join(job.what for job in jobs) or "nothing else", found, how)


def open_readers(server: Server, open_: ExitStack) -> list[ExploreVisitor]:
    """Open a page for each reader."""

    def one(_: int) -> ExploreVisitor:
        return ExploreVisitor(server.url, open_.enter_context(visitor(server.url)))

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(one, range(READERS)))


def waits(what: str, found: LoadResult, how: list[str]) -> Iterator[ReportRow]:
    """Yield rows for the latency of heads and texts, and for errors."""
    note = "; ".join([f"{READERS} readers, {LOAD}{found.used()}", *how])
    for name, taken in (("a head", found.heads), ("a text", found.texts)):
        figure = f"{p95(taken):.2f} s (median {median(taken):.2f}, longest {max(taken):.2f})"
        yield upper_limit_row(f"{name}, 19 of 20, beside {what}", WAIT, p95(taken), figure, note)
        note = ""
    yield ReportRow(f"errors beside {what}", "0", found.wrong(), not found.errors)


def same_text() -> Iterator[ReportRow]:
    """Yield a row for a new text that all readers submit simultaneously."""
    with app() as server, ExitStack() as open_:
        readers = open_readers(server, open_)
        before = read_counter(server, 'headlight_cache_additions_total{cache="traces"}')
        with ThreadPoolExecutor(READERS) as pool:
            began = time.perf_counter()
            list(pool.map(lambda reader: reader.read("Everybody in the room reads this sentence now."), readers))
            took = time.perf_counter() - began
        made = read_counter(server, 'headlight_cache_additions_total{cache="traces"}') - before
    what = f"traces made for one new text that {READERS} read at the same moment"
    yield ReportRow(what, "1", f"{made:.0f}", made == 1, f"the last had it after {took:.2f} s")


def thousand() -> Iterator[ReportRow]:
    """Yield a row for the memory growth of a server with small budgets."""
    source = different(seed=5)
    with app(LIMITS) as server:
        with visitor(server.url) as first:
            ExploreVisitor(server.url, first).read(next(source))
        start = server.resident()
        for _ in range(TEXTS // A_READER):
            with visitor(server.url) as session:
                reader = ExploreVisitor(server.url, session)
                for text in islice(source, A_READER):
                    reader.read(text)
        grown = server.resident() - start
    most_bytes = TRACES * 9 / 8 + SURVEYS  # answers may take another eighth
    figure = f"{grown / 2**20:.0f} MiB (from {start / 2**20:.0f})"
    what = f"memory grown by {TEXTS:,} texts, budgets of {most_bytes / 2**20:.0f} MiB"
    yield ReportRow(
        what, f"≤ {most_bytes / 2**20:.0f} MiB", figure, grown <= most_bytes, f"{TEXTS // A_READER} visitors"
    )


def read_counter(server: Server, name: str) -> float:
    """Return a counter of the server's metrics, or 0 if it is missing."""
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(name)), 0.0)
