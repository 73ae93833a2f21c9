"""An overload of texts: visitors who are refused because the queue is long, and retry."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from queue import Empty, SimpleQueue

from bench.clicks import ExploreVisitor
from bench.models import count_embedded, text_of
from bench.report import ReportRow, upper_limit_row
from bench.server import Server, app
from bench.visitor import BusyVisitor, open_session, visitor

VISITORS, SUBMITS, TOKENS = 200, 10, 500  # visitors; texts per second; tokens per text
AGAIN, TRIES, REST = "try again soon", 100, 2.0  # text of the busy message; maximum retries; seconds before a retry
AFTERWARDS = 0.5  # limit in seconds for a short text after the overload


class RetryingVisitor(BusyVisitor):
    """A visitor who submits a text and retries if the page is busy."""

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
    """Yield rows for the submitted texts, for errors, and for a short text afterwards."""
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
        f"{VISITORS} visitors, {TOKENS} tokens each, {seconds} s and {took - seconds:.0f} more until the last was read;"
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
    """Open a page for each visitor."""

    def one(_: int) -> RetryingVisitor:
        session = open_.enter_context(open_session(server.url, RetryingVisitor))
        session.see()
        return session

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(one, range(VISITORS)))


def submit(sessions: list[RetryingVisitor], seconds: int) -> tuple[int, list[str]]:
    """Submit texts at a fixed rate by idle visitors; return their number and the errors."""
    free, errors = SimpleQueue[RetryingVisitor](), list[str]()
    for session in sessions:
        free.put(session)

    def one(session: RetryingVisitor, number: int) -> None:
        try:
            session.read(text_of(TOKENS, count_embedded, seed=1000 + number))
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
    """Print the progress, because the measurement takes minutes."""
    done = sum(one.done() for one in on_the_way)
    print(
        f"{len(on_the_way):,} texts submitted, {done:,} done, {len(errors)} of them wrong", file=sys.stderr, flush=True
    )
