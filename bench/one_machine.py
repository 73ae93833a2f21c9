"""Latency of thirty readers during long jobs of other visitors, memory after many texts, and a class of students.

Run `python -m bench machine [PART ...]`. Readers submit different texts and select different heads, as in
bench/clicks.py. Meanwhile other visitors run long jobs: first each job separately, then all together. The jobs are:
ablating every head, computing and projecting vectors of 10,000 sentences, fine-tuning, and reading 8,192 tokens. Each
part starts a new server. The progress of the jobs is reported, too, because jobs that stall would not delay readers.
"""

from __future__ import annotations

import json
import re
import secrets
import statistics
import tempfile
import threading
import time
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from statistics import median

from bench.clicks import ExploreVisitor, Load, LoadResult, different, drive, overload_rows, p95
from bench.hover import LONG_TOKENS
from bench.models import count_embedded, count_long, save_long, text_of
from bench.report import ReportRow, upper_limit_row
from bench.server import Server, app
from bench.visitor import AppSession, BusyVisitor, open_session, visitor
from classroom.question import Question
from classroom.store import Store

READERS, LOAD = 30, Load(heads=10, texts=5, seconds=20)
PATIENCE = 300.0  # limit in seconds for preparations
WAIT = 0.5  # limit of the 95th percentile of latency in seconds
SENTENCES = 10_000
STEPPED = re.compile(r"step [1-9]")  # progress of a training that has started
LENGTH = 200  # tokens of a text for the ablations
TEXTS, A_READER = 1000, 50  # texts before memory is measured, and texts per visitor
TRACES, SURVEYS = 100_000_000, 256 * 2**20  # budgets of the server's caches in bytes
SUBMITTING = {"minute": 60, "ten-minutes": 600}  # duration of the overload (bench/clicks.py) in seconds
LIMITS = {"HEADLIGHT_TRACE_MEMORY": str(TRACES)}


def measure(*parts: str) -> Iterator[ReportRow]:
    """Yield rows for readers' latencies with and without long jobs, for a common text, memory and an overload.

    ``parts`` names the measurements to run, by default all but the overload of ten minutes. Raise ValueError if a part
    is unknown.
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
    """The folders of the models that long jobs need, and the environment variables that name them."""

    def __init__(self, folder: Path) -> None:
        self.long = save_long(folder / "models" / "long")
        self.environment = {
            "HEADLIGHT_MODEL_FOLDERS": str(folder / "models"),
            "HEADLIGHT_TAUGHT": str(folder / "taught"),
        }


class LongJob(ABC):
    """A long job of a simulated visitor; ``prepare`` runs before the measurement, ``work`` during it.

    The job ends when the event ``over`` is set. ``what`` names the job, and ``said`` is its progress, for the report.
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
    """The job of a visitor who ablates every head, in one text after another."""

    what = "Cause over all heads"

    def prepare(self) -> None:
        """Open the page on which heads are ablated."""
        self.session.see("cause", text="The baker bought a lantern.")

    def work(self) -> None:
        """Ablate every head in one text after another until ``over`` is set."""
        for done in range(10**6):
            self.said = f"{done} texts of {LENGTH} tokens"
            if self.over.is_set():
                return
            self.session.see("cause", text=text_of(LENGTH, count_embedded, seed=100 + done))


class VectorsJob(LongJob):
    """The job of a visitor who computes the vectors of many sentences."""

    what = f"vectors of {SENTENCES:,} sentences"

    def prepare(self) -> None:
        """Open the page on vectors and upload the file of sentences."""
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
    """The job of a visitor who projects the vectors of many sentences by UMAP."""

    what = f"UMAP of {SENTENCES:,} sentences"

    def prepare(self) -> None:
        """Compute the vectors of the sentences before the measurement."""
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
    """The job of a visitor who fine-tunes a model."""

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
        """Wait while the training runs, until ``over`` is set."""
        first = self.session.progress
        while not self.over.wait(0.5):
            self.session.look()
            self.said = f"from {first!r} to {self.session.progress!r}"


class LongTextJob(LongJob):
    """The job of a visitor who submits a long text."""

    what = f"a text of {LONG_TOKENS:,} tokens"

    def prepare(self) -> None:
        """Load the model that can read the long text."""
        self.session.see("", model=self.places.long, text="The baker bought a lantern.")

    def work(self) -> None:
        """Submit the long text and wait for its view."""
        began = time.perf_counter()
        self.said = "not read yet"
        self.session.submit(text_of(LONG_TOKENS, count_long, seed=4))
        self.said = f"read after {time.perf_counter() - began:.0f} s"


WORK: dict[str, type[LongJob]] = {
    "cause": AblationJob,
    "vectors": VectorsJob,
    "umap": UmapJobRun,
    "training": TrainingJob,
    "tokens": LongTextJob,
}


def measure_readers(kinds: list[type[LongJob]], places: LongModels) -> Iterator[ReportRow]:
    """Yield rows for the latency of readers while the given jobs run."""
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
    """Open a page for each simulated reader."""

    def one(_: int) -> ExploreVisitor:
        return ExploreVisitor(server.url, open_.enter_context(visitor(server.url)))

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(one, range(READERS)))


def waits(what: str, found: LoadResult, how: list[str]) -> Iterator[ReportRow]:
    """Yield rows for the latencies of heads and texts in a load test, and for its errors.

    ``what`` names the jobs that ran meanwhile, and ``how`` are remarks for the note of the first row.
    """
    note = "; ".join([f"{READERS} readers, {LOAD}{found.used()}", *how])
    for name, taken in (("a head", found.heads), ("a text", found.texts)):
        figure = f"{p95(taken):.2f} s (median {median(taken):.2f}, longest {max(taken):.2f})"
        yield upper_limit_row(f"{name}, 19 of 20, beside {what}", WAIT, p95(taken), figure, note)
        note = ""
    yield ReportRow(f"errors beside {what}", "0", found.wrong(), not found.errors)


def same_text() -> Iterator[ReportRow]:
    """Yield a row for a new text that all readers submit at the same time: the number of computed traces.

    The number should be 1, because the readers share the trace.
    """
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
    """Yield a row for the growth of a server's memory while it reads a thousand texts.

    The server runs with small memory budgets.
    """
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
    """Return the value of a counter in the server's Prometheus metrics, or 0 if it is missing."""
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(name)), 0.0)


STUDENTS, CHANGES, LOST = 30, 20, 3  # students; views that the teacher opens; lost connections per student
JOINED, LED = 60.0, 1.0  # limits in seconds: until all have joined, and the 95th percentile of following a change
NAME = "headlight_visitor"  # name of the cookie


class StudentClient:
    """A simulated student's browser: a cookie, a session, and the polling of the class."""

    def __init__(self, url: str, code: str) -> None:
        self.url, self.code, self.cookie = url, code, secrets.token_urlsafe(16)
        self.session: AppSession

    def news(self, since: int) -> int:
        """Wait until the version of the class differs from ``since``; return the new version."""
        with urllib.request.urlopen(f"{self.url}/headlight/class/{self.code}?since={since}", timeout=60) as answer:
            return int(json.loads(answer.read())["version"])


def measure_classroom() -> Iterator[ReportRow]:
    """Yield rows for a class of thirty students: time to join, delay of new views, and stored answers."""
    from ui.run.fine_tuning import hash_cookie

    with (
        tempfile.TemporaryDirectory() as folder,
        app({"HEADLIGHT_TAUGHT": f"{folder}/taught"}) as server,
        ExitStack() as open_,
    ):
        store = Store(Path(folder) / "classes" / "rooms.sqlite")
        code = store.open("the teacher")
        students = [StudentClient(server.url, code) for _ in range(STUDENTS)]

        def join(student: StudentClient) -> None:
            store.join(code, hash_cookie(student.cookie))
            student.session = open_.enter_context(visitor(server.url, {"Cookie": f"{NAME}={student.cookie}"}))
            student.session.see("", **{"class": code})

        began = time.perf_counter()
        run_together(join, students)
        took = time.perf_counter() - began
        yield upper_limit_row(
            f"{STUDENTS} students are in the room and see Explore",
            JOINED,
            took,
            f"{took:.1f} s",
            "sessions of the protocol",
        )
        waits = [wait for change in range(CHANGES) for wait in lead_students(store, code, students, change)]
        p95 = statistics.quantiles(waits, n=20)[-1]
        middle = statistics.median(waits)
        how = f"median {middle:.2f} s, longest {max(waits):.2f} s; {CHANGES} views, every other one a new text"
        yield upper_limit_row("a teacher's view is open at 19 of 20 students", LED, p95, f"{p95:.2f} s", how)
        kept = count_answers(store, code, students)
        yield ReportRow(f"answers kept, over {LOST} lost connections each", str(STUDENTS), str(kept), kept == STUDENTS)


def lead_students(store: Store, code: str, students: list[StudentClient], change: int) -> list[float]:
    """Present a new view as the teacher; return the seconds until each student's page shows it.

    ``change`` is the number of the view, from which its text and head are computed.
    """
    since, waits, lock = store.version(code), [], threading.Lock()
    view = f"/?text=The+class+reads+sentence+{change // 2}.&layer={change % 6}&head={change % 12}"
    ready = threading.Barrier(len(students) + 1)

    def follow(student: StudentClient) -> None:
        ready.wait()
        student.news(since)
        student.session.see("", **{"class": code})
        with lock:
            waits.append(time.perf_counter() - began)

    with ThreadPoolExecutor(len(students)) as pool:
        done = [pool.submit(follow, student) for student in students]
        ready.wait()
        time.sleep(0.3)  # let all polls reach the server
        began = time.perf_counter()
        store.present(code, "the teacher", view)
        for one in done:
            one.result()
    return waits


def count_answers(store: Store, code: str, students: list[StudentClient]) -> int:
    """Let students answer a question over connections that break; return the number of stored final answers."""
    from ui.run.fine_tuning import hash_cookie

    store.ask(code, "the teacher", Question("word", "Which word?"))

    def answer(student: StudentClient) -> None:
        for again in range(LOST):
            with visitor(student.url, {"Cookie": f"{NAME}={student.cookie}"}) as session:
                session.see("", **{"class": code})
                store.answer(code, hash_cookie(student.cookie), 1, f"word{again}")

    run_together(answer, students)
    return store.board(code, "the teacher").answers_to(1).count(f"word{LOST - 1}")


def run_together(act: Callable[[StudentClient], None], students: list[StudentClient]) -> None:
    """Call ``act`` for all students in parallel; raise the exception of a call that fails."""
    with ThreadPoolExecutor(len(students)) as pool:
        list(pool.map(act, students))
