"""Bytes and seconds of a static site on a slow phone, and of the models that run in the reader's browser."""

from __future__ import annotations

import functools
import http.server
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from bench.browser import Page, chromium
from bench.models import count_embedded, text_of
from bench.report import ReportRow, upper_limit_row
from headlight.command import main

PHONE = {"width": 390, "height": 844}
SLOWER = 4  # factor by which the processor is slowed down
BANDWIDTH = 10_000_000 / 8  # bytes per second
VISITS = 5
MOST_BYTES, MOST_SECONDS, MOST_TEXT = 1_000_000, 1.5, 300_000
LIVE_VISITS, TEXTS, TOKENS = 3, 8, 16  # visits; later texts of each visit and their tokens
MOST_ATTENTION, MOST_MASKS, MOST_MEMORY = 30e6, 45e6, 400e6  # bytes
MOST_MILLISECONDS, MOST_DIFFERENCE = 150, 0.002
STATUS = "#live > p[role=status]"  # "30 ms. Largest difference from the Python app: 0.0003."
PATIENCE = 180_000  # milliseconds
LONG_TEXT = (
    "The animal did not cross the street because it was too tired, and the old dog that sat near it barked twice."
)
# Milliseconds from the first byte of the page until the view is painted; null before.
PAINTED = """() => {
  const [mark] = performance.getEntriesByName("headlight:painted");
  const [page] = performance.getEntriesByType("navigation");
  return mark ? mark.startTime - page.responseStart : null;
}"""


def measure() -> Iterator[ReportRow]:
    """Yield rows for a site's first view (bytes, seconds), for the bytes of a text, and for the course's folder."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        build(root / "site", "--text", LONG_TEXT)
        with serve(root / "site") as server, chromium() as browser:
            visits = [visit(browser, server.address) for _visit in range(VISITS)]
        sizes, seconds = [size for size, _took in visits], [took for _size, took in visits]
        note = f"{VISITS} visits with an empty cache: {min(seconds):.2f} to {max(seconds):.2f} s"
        yield upper_limit_row("bytes of a site's first view", MOST_BYTES, max(sizes), f"{max(sizes) / 1e6:.2f} MB")
        yield upper_limit_row(
            f"first byte to painted, processor ÷ {SLOWER}, {BANDWIDTH * 8 / 1e6:.0f} Mbit/s",
            MOST_SECONDS, median(seconds), f"{median(seconds):.2f} s", note,
        )  # fmt: skip
        build(root / "text", "--only", "--text", LONG_TEXT)
        [text] = (root / "text").glob("texts/*.bin")
        tokens = token_count(LONG_TEXT)
        share = text.stat().st_size * 32 / tokens
        told = f"{text.stat().st_size / 1e3:.0f} kB for {tokens} tokens of 72 heads"
        yield upper_limit_row("bytes of a text per 32 tokens", MOST_TEXT, share, f"{share / 1e3:.0f} kB", told)
        build(root / "course", "--only", "--lessons", "--lang", "en", "zh")
        files = [file for file in (root / "course").rglob("*") if file.is_file()]
        lessons = len(list((root / "course").glob("lessons/lesson-*.json")))
        size = sum(file.stat().st_size for file in files)
        yield ReportRow(
            f"a folder of {lessons} lessons in two languages", "–", f"{size / 1e6:.1f} MB in {len(files)} files"
        )


def build(folder: Path, *options: str) -> None:
    """Write a site; raise RuntimeError if the command fails."""
    if main(["site", str(folder), *options]) != 0:
        raise RuntimeError(f"headlight site {folder} failed.")


def token_count(text: str) -> int:
    """Return the number of tokens of a text for the embedded model."""
    from inference import LocalBackend, TraceRequest

    return len(LocalBackend().trace(TraceRequest(text=text)).tokens)


class FolderServer(http.server.ThreadingHTTPServer):
    """A server of the files in a folder, which counts the bytes that it sends."""

    sent = 0  # bytes of all files

    @property
    def address(self) -> str:
        """Return the address of the folder."""
        return f"http://127.0.0.1:{self.server_port}/"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """A request handler that serves files and logs nothing."""

    server: FolderServer

    def log_message(self, *_arguments: object) -> None:
        """Print nothing."""

    def send_header(self, keyword: str, value: str) -> None:
        """Send a header, and count the bytes of the file that follows."""
        if keyword == "Content-Length":
            self.server.sent += int(value)
        super().send_header(keyword, value)


@contextmanager
def serve(folder: Path) -> Iterator[FolderServer]:
    """Serve the files of a folder without compression."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    with FolderServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


def visit(browser: Any, address: str) -> tuple[int, float]:
    """Open a site on a simulated slow phone with an empty cache.

    Return the bytes until it is painted, and the seconds from the first byte to the paint.
    """
    page = Page(browser)
    try:
        page.page.set_viewport_size(PHONE)
        slow = page.context.new_cdp_session(page.page)
        slow.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        slow.send("Network.enable")
        limits = {"offline": False, "latency": 20, "downloadThroughput": BANDWIDTH, "uploadThroughput": BANDWIDTH}
        slow.send("Network.emulateNetworkConditions", limits)
        page.open(address)
        page.wait_until_painted()
        return sum(page.wire.values()), float(page.page.evaluate(PAINTED)) / 1000
    finally:
        page.close()


@dataclass(frozen=True)
class LiveVisit:
    """Measurements of a visit to the live model: downloaded bytes, milliseconds per text, memory in bytes.

    ``difference`` is the largest deviation of a weight from the Python app.
    """

    size: int
    milliseconds: list[int]
    difference: float
    memory: int  # after garbage collection
    garbage: int  # memory that garbage collection freed


def measure_live() -> Iterator[ReportRow]:
    """Yield rows for live attention and for masked-word predictions, both computed in the browser."""
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        build(Path(name), "--live")
        with serve(Path(name)) as server:
            visits = [visit_attention(browser, server) for _visit in range(LIVE_VISITS)]
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
    note = f"{len(milliseconds)} texts in {LIVE_VISITS} visits: {min(milliseconds)} to {max(milliseconds)} ms"
    middle = median(milliseconds)
    return upper_limit_row(f"milliseconds of {what}", MOST_MILLISECONDS, middle, f"{middle:.0f} ms", note)


def visit_attention(browser: Any, server: FolderServer) -> LiveVisit:
    """Compute the attention of live texts in a browser with an empty cache; return the costs."""
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
    """Return the bytes that a browser with an empty cache downloads to predict masked words."""
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
