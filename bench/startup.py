"""The time from the start of the process to the first page, and from there to the first map."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from bench.browser import Page, chromium
from bench.report import ReportRow
from bench.server import app
from bench.stream import first_frame
from bench.wrapped import QUIET

STARTS, LOADS = 4, 5
LIMIT = 1.25  # ratio of the first frame's time with the warm-up to that without it


def measure() -> Iterator[ReportRow]:
    """Yield a row for the first frame, with and without the warm-up, and a row for the first map."""
    kinds: dict[str, tuple[list[float], ...]] = {"": ([], [], []), "1": ([], [], [])}
    for _ in range(STARTS):
        for quiet, (health, frame, done) in kinds.items():
            with app({QUIET: quiet}, module="bench.wrapped") as server:
                seen = first_frame(server.url)
                health.append(server.answered)
                frame.append(seen["frame"] - server.started)
                done.append(seen["done"] - server.started)
    mine, bare = (tuple(median(kind) for kind in times) for times in kinds.values())
    figure = f"{mine[1]:.2f} s; without the warm-up {bare[1]:.2f} s: ratio {mine[1] / bare[1]:.2f}"
    note = (
        f"medians of {STARTS} starts each in turns, over the WebSocket, to the text box; health after {mine[0]:.2f} "
        f"and {bare[0]:.2f} s; whole script run done after {mine[2]:.1f} and {bare[2]:.1f} s"
    )
    what = "process start → first frame; heavy imports must not delay it"
    yield ReportRow(what, f"reported; ratio ≤ {LIMIT}", figure, mine[1] / bare[1] <= LIMIT, note)
    yield first_map()


def first_map() -> ReportRow:
    """Measure the time from a page load to its first map, for first and for later loads.

    The first load begins as soon as the server has answered.
    """
    with chromium() as browser:
        cold, since_start = [], []
        for _ in range(2):
            with app() as server:
                cold.append(load(browser, server.url))
                since_start.append(server.answered + cold[-1])
                warm = [load(browser, server.url) for _ in range(LOADS)]
    figure = f"cold {median(cold):.1f} s, warm {median(warm):.2f} s"
    note = (
        f"a fresh browser profile each time; cold: the first page ever, opened as soon as the process answered "
        f"({median(since_start):.1f} s after its start all is painted); warm: median of {LOADS} later loads"
    )
    return ReportRow("page load → first map painted", "reported", figure, None, note)


def load(browser: object, url: str) -> float:
    """Return the seconds from the request of a page until its first complete view is painted."""
    page = Page(browser)
    try:
        page.open(url)
        page.wait_until_painted()
        page.page.wait_for_timeout(100)
        return float(page.note("painted")[0]["time"]) / 1000
    finally:
        page.close()
