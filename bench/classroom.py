"""A class of thirty: the time to join, to follow the teacher's view, and to answer.

Students are simulated over Streamlit's protocol and poll for news like the browser's script. A page counts as
loaded at the end of its script; a browser paints some tens of milliseconds later.
"""

from __future__ import annotations

import json
import secrets
import statistics
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from bench.report import ReportRow, upper_limit_row
from bench.server import app
from bench.visitor import AppSession, visitor
from classroom.question import Question
from classroom.store import Store

STUDENTS, CHANGES, LOST = 30, 20, 3  # students; views that the teacher opens; lost connections per student
JOINED, LED = 60.0, 1.0  # limits in seconds: until all have joined, and the 95th percentile of following a change
NAME = "headlight_visitor"  # name of the cookie


class StudentClient:
    """A student's browser: a cookie, a session, and the polling for news."""

    def __init__(self, url: str, code: str) -> None:
        self.url, self.code, self.cookie = url, code, secrets.token_urlsafe(16)
        self.session: AppSession

    def news(self, since: int) -> int:
        """Block until the room's version differs from ``since``, and return it."""
        with urllib.request.urlopen(f"{self.url}/headlight/class/{self.code}?since={since}", timeout=60) as answer:
            return int(json.loads(answer.read())["version"])


def measure() -> Iterator[ReportRow]:
    """Yield the rows of a class."""
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
    """Open a new view as the teacher; return the seconds until each student has it."""
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
    """Return the number of stored answers of students whose connection breaks repeatedly."""
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
    """Call ``act`` for all students in parallel; exceptions are raised."""
    with ThreadPoolExecutor(len(students)) as pool:
        list(pool.map(act, students))
