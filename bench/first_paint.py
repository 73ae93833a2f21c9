"""The bytes and the seconds until the first view of the app is painted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

from bench.bertviz_page import attention, document, page_bytes, painted_in, serve_document
from bench.browser import Page, chromium
from bench.models import count_embedded, text_of
from bench.report import ReportRow, upper_limit_row
from bench.server import app
from bench.visitor import first_frame
from bench.wrapped import QUIET

FIRST_VIEW_LIMIT = 1_000_000
FIRST_VIEW_TOKENS = 512
ROUTES = "/headlight/"


def measure_bytes() -> Iterator[ReportRow]:
    """Yield a row for the bytes of the first view: thumbnails of all heads, a matrix, and the lines view."""
    text = text_of(FIRST_VIEW_TOKENS, count_embedded, seed=2)
    with app() as server, chromium() as browser:
        page = Page(browser)
        page.open(server.url)
        page.wait_until_painted()
        page.settle()
        static = sum(size for address, size in page.fetched.items() if ROUTES not in address)
        opening = (sum(page.frames), sum(size for address, size in page.fetched.items() if ROUTES in address))
        page.frames.clear()
        page.fetched.clear()
        page.submit(text)
        page.page.get_by_role("button", name="Lines").or_(page.page.get_by_role("tab", name="Lines")).first.click()
        page.wait_until_painted()
        page.settle()
        messages = sum(page.frames)
        routes = {a: size for a, size in page.fetched.items() if ROUTES in a}
        others = sum(page.fetched.values()) - sum(routes.values())
    total = messages + sum(routes.values()) + others
    size, how = page_bytes(FIRST_VIEW_TOKENS)
    parts = ", ".join(f"{a.split('?')[0].rsplit('/', 1)[-1]} {s / 1000:.0f} kB" for a, s in routes.items())
    note = (
        f"unpacked: WebSocket {messages / 1000:.0f} kB in {len(page.frames)} messages, {parts}"
        + (f", other {others / 1000:.0f} kB" if others else "")
        + f"; before it, once: Streamlit's own files {static / 1e6:.1f} MB, first page {sum(opening) / 1000:.0f} kB;"
        f" BertViz's document {size / 1e6:.0f} MB ({how}), {size / total:,.0f} times as much"
    )
    what = f"bytes to the browser for the first full view, {FIRST_VIEW_TOKENS} tokens, 72 heads"
    yield ReportRow(what, "≤ 1 MB", f"{total / 1000:.0f} kB", total <= FIRST_VIEW_LIMIT, note)


PAINT_LIMIT = 1 / 20
PAINT_TOKENS, HEADS = 128, 72
TEXTS, ROUNDS = 4, 2  # the app's texts per round; rounds, with a document of BertViz each


def measure_paint() -> Iterator[ReportRow]:
    """Yield a row for the time from a submitted text to the complete paint, relative to BertViz's."""
    began = time.perf_counter()
    maps, names = attention(PAINT_TOKENS)
    html = document(maps, names)
    made = time.perf_counter() - began
    mine: list[float] = []
    theirs: list[float] = []
    with app() as server, serve_document(html) as url, chromium() as browser:
        page = Page(browser)
        page.open(server.url)
        page.wait_until_painted()
        page.settle()
        for turn in range(ROUNDS):
            mine += [time_text(page, seed) for seed in range(turn * TEXTS, (turn + 1) * TEXTS)]
            theirs.append(painted_in(browser, url, HEADS * PAINT_TOKENS * PAINT_TOKENS))
    value = median(mine) / median(theirs)
    figure = f"{value:.4f} = 1/{1 / value:.0f} ({median(mine):.0f} ms against {median(theirs) / 1000:.1f} s)"
    note = (
        f"medians of {len(mine)} texts ({min(mine):.0f}–{max(mine):.0f} ms) and {ROUNDS} documents in turns; running "
        f"the model for BertViz and making its document of {len(html) / 1e6:.0f} MB took {made:.1f} s more, not counted"
    )
    yield upper_limit_row(
        f"text submitted → all painted, {PAINT_TOKENS} tokens / BertViz model view", PAINT_LIMIT, value, figure, note
    )


def time_text(page: Page, seed: int) -> float:
    """Submit a new text; return the milliseconds until its view is painted."""
    took = page.submit(text_of(PAINT_TOKENS, count_embedded, seed))
    page.settle()
    return took


STARTS, LOADS = 4, 5
STARTUP_LIMIT = 1.25  # ratio of the first frame's time with the warm-up to that without it


def measure_startup() -> Iterator[ReportRow]:
    """Yield rows for the time from a server's start to its first frame, and to its first map.

    The first frame, which has the text box, is measured with and without the warm-up.
    """
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
    yield ReportRow(what, f"reported; ratio ≤ {STARTUP_LIMIT}", figure, mine[1] / bare[1] <= STARTUP_LIMIT, note)
    yield first_map()


def first_map() -> ReportRow:
    """Return a row for the time from a page load to its first map, for the first load and later loads.

    The first load begins as soon as the server answers.
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
