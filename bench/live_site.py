"""Bytes, milliseconds and memory of the models that run in the browser of a static site's reader."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from bench.browser import chromium
from bench.models import count_embedded, text_of
from bench.report import ReportRow, upper_limit_row
from bench.static_site import FolderServer, build, serve

VISITS, TEXTS, TOKENS = 3, 8, 16  # visits; later texts of each visit and their tokens
MOST_ATTENTION, MOST_MASKS, MOST_MEMORY = 30e6, 45e6, 400e6  # bytes
MOST_MILLISECONDS, MOST_DIFFERENCE = 150, 0.002
STATUS = "#live > p[role=status]"  # "30 ms. Largest difference from the Python app: 0.0003."
PATIENCE = 180_000  # milliseconds


@dataclass(frozen=True)
class LiveVisit:
    """Measurements of a visit: bytes of the download, milliseconds of each text, memory in bytes."""

    size: int
    milliseconds: list[int]
    difference: float
    memory: int  # after garbage collection
    garbage: int  # memory that garbage collection freed


def measure() -> Iterator[ReportRow]:
    """Yield rows for live attention and for masked words, in browsers with an empty cache."""
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        build(Path(name), "--live")
        with serve(Path(name)) as server:
            visits = [visit_attention(browser, server) for _visit in range(VISITS)]
            masks = visit_masks(browser, server)
    yield _bytes_row("live attention", MOST_ATTENTION, max(visit.size for visit in visits))
    yield _bytes_row("masked words", MOST_MASKS, masks)
    yield _time_row("the first live text", [visit.milliseconds[0] for visit in visits])
    yield _time_row(f"later live texts of {TOKENS} tokens", [one for visit in visits for one in visit.milliseconds[1:]])
    memory, garbage = max(visit.memory for visit in visits), max(visit.garbage for visit in visits)
    what = f"memory of the page's process after {TEXTS + 1} live texts and garbage collection"
    yield upper_limit_row(what, MOST_MEMORY, memory, f"{memory / 1e6:.0f} MB", f"garbage: {garbage / 1e6:.0f} MB")
    difference = max(visit.difference for visit in visits)
    what = "largest difference of a live weight from the Python app"
    yield upper_limit_row(what, MOST_DIFFERENCE, difference, f"{difference:.4f}", "the text that the page checks")


def _bytes_row(what: str, limit: float, size: int) -> ReportRow:
    return upper_limit_row(f"bytes of {what}, from the click to the first result", limit, size, f"{size / 1e6:.1f} MB")


def _time_row(what: str, milliseconds: list[int]) -> ReportRow:
    note = f"{len(milliseconds)} texts in {VISITS} visits: {min(milliseconds)} to {max(milliseconds)} ms"
    middle = median(milliseconds)
    return upper_limit_row(f"milliseconds of {what}", MOST_MILLISECONDS, middle, f"{middle:.0f} ms", note)


def visit_attention(browser: Any, server: FolderServer) -> LiveVisit:
    """Run live texts in a browser with an empty cache."""
    with _page(browser, server) as page:
        size = _download(page, server, "#live", f"{STATUS}:not(:empty)")
        milliseconds = [_shown_milliseconds(page)]
        difference = float(re.findall(r"\d\.\d+", page.inner_text(STATUS))[-1])
        for seed in range(TEXTS):
            shown = page.url
            page.locator("#live textarea").first.fill(text_of(TOKENS, count_embedded, seed))
            page.wait_for_function("(shown) => location.href !== shown", arg=shown, timeout=PATIENCE)
            milliseconds.append(_shown_milliseconds(page))
        before = _memory(browser)
        page.context.new_cdp_session(page).send("HeapProfiler.collectGarbage")
        memory = _memory(browser)
        return LiveVisit(size, milliseconds, difference, memory, before - memory)


def visit_masks(browser: Any, server: FolderServer) -> int:
    """Return the bytes of masked words in a browser with an empty cache."""
    with _page(browser, server) as page:
        return _download(page, server, "#masks", "#masks tbody tr")


@contextmanager
def _page(browser: Any, server: FolderServer) -> Iterator[Any]:
    """Open the site with an empty cache, and wait until its service worker has stored the first files."""
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(server.address)
        page.wait_for_selector("[data-painted]", timeout=PATIENCE)
        page.evaluate("() => navigator.serviceWorker.ready.then(() => null)")
        yield page
    finally:
        context.close()


def _download(page: Any, server: FolderServer, section: str, result: str) -> int:
    """Agree to the download of a section; return the bytes that were sent until the result is there."""
    before = server.sent
    page.locator(f"{section} button").click()
    page.locator(f"{section} button").nth(1).wait_for()  # "Not now": the question is there
    page.locator(f"{section} button").first.click()
    page.wait_for_selector(result, timeout=PATIENCE)
    return server.sent - before


def _shown_milliseconds(page: Any) -> int:
    return int(page.inner_text(STATUS).split()[0])


def _memory(browser: Any) -> int:
    """Return the memory of the largest process of a page in bytes, without what it shares with other processes."""
    session = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    return max(psutil.Process(each["id"]).memory_full_info().uss for each in found if each["type"] == "renderer")
