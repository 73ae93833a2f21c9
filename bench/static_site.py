"""Bytes and seconds of a static site, served by a plain server to a slow phone."""

from __future__ import annotations

import functools
import http.server
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from bench.browser import Page, chromium
from bench.report import ReportRow, upper_limit_row
from headlight.command import main

PHONE = {"width": 390, "height": 844}
SLOWER = 4  # factor by which the processor is slowed down
BANDWIDTH = 10_000_000 / 8  # bytes per second
VISITS = 5
MOST_BYTES, MOST_SECONDS, MOST_TEXT = 1_000_000, 1.5, 300_000
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
    """Yield rows for the first view of a site, a text, and the course of lessons."""
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
    """Return the number of tokens that the embedded model reads."""
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
    """A handler of files that prints no line for each request."""

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
    """Open a site with an empty cache; return the bytes until it is painted, and the seconds since the first byte."""
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
