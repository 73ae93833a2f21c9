"""Chromium for measurements, with pages that record received bytes and the times of input and paint."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PROBE = (Path(__file__).parent / "probe.js").read_text(encoding="utf-8")
SIZE = {"width": 1400, "height": 900}
PATIENCE = 180.0  # seconds


@contextmanager
def chromium() -> Iterator[Any]:
    """Inside the block, run Chromium: the path in HEADLIGHT_CHROMIUM, the system's, or Playwright's."""
    from playwright.sync_api import sync_playwright

    named = os.environ.get("HEADLIGHT_CHROMIUM")
    path = named or next(
        filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-headless-shell"))), None
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Page:
    """A page in a new browser profile, in which the script probe.js records times."""

    def __init__(self, browser: Any) -> None:
        self.context = browser.new_context(viewport=SIZE)
        self.page = self.context.new_page()
        self.page.add_init_script(PROBE)
        self.frames: list[int] = []  # uncompressed bytes of each received WebSocket message
        self.sent: list[int] = []
        self.fetched: dict[str, int] = {}  # address -> uncompressed bytes of the body
        self.wire: dict[str, int] = {}  # address -> transferred bytes
        self.page.on("websocket", self._listen)
        network = self.context.new_cdp_session(self.page)
        network.send("Network.enable")
        addresses: dict[str, str] = {}
        network.on("Network.requestWillBeSent", lambda e: addresses.__setitem__(e["requestId"], e["request"]["url"]))
        network.on("Network.dataReceived", lambda e: self._add(self.fetched, addresses, e, "dataLength"))
        network.on("Network.loadingFinished", lambda e: self._add(self.wire, addresses, e, "encodedDataLength"))

    def _listen(self, socket: Any) -> None:
        socket.on("framereceived", lambda payload: self.frames.append(len(payload)))
        socket.on("framesent", lambda payload: self.sent.append(len(payload)))

    @staticmethod
    def _add(counts: dict[str, int], addresses: dict[str, str], event: dict[str, Any], field: str) -> None:
        address = addresses.get(event["requestId"], "")
        counts[address] = counts.get(address, 0) + event[field]

    def open(self, url: str) -> None:
        """Open an address without waiting for the first paint."""
        self.page.goto(url, wait_until="commit")

    def note(self, field: str) -> Any:
        """Return a value that the script probe.js recorded."""
        return self.page.evaluate("(field) => globalThis.bench?.[field] ?? null", field)

    def shown_state(self) -> str:
        """Return the state of the displayed view as the text "base|layer|head|focus|tab"."""
        return str(self.page.evaluate("() => globalThis.bench?.shown() ?? ''"))

    def wait_until_painted(self, beside: str = "", patience: float = PATIENCE) -> str:
        """Wait until a view whose state differs from ``beside`` is painted completely; return its state.

        A state is the text "base|layer|head|focus|tab". Raise TimeoutError after ``patience`` seconds.
        """
        end = time.perf_counter() + patience
        while time.perf_counter() < end:
            shown = self.shown_state()
            if shown and shown != beside:
                return shown
            self.page.wait_for_timeout(20)
        raise TimeoutError(f"Nothing new was painted within {patience:.0f} s; the page says: {self.says()}")

    def settle(self, quiet: float = 0.6, patience: float = PATIENCE) -> None:
        """Wait until nothing was painted, sent or received for ``quiet`` seconds, but at most ``patience``."""
        last: tuple[int, ...] = ()
        since, end = time.perf_counter(), time.perf_counter() + patience
        while time.perf_counter() < end:
            painted = self.page.evaluate("() => globalThis.bench?.painted.length ?? 0")
            state = (len(self.frames), len(self.sent), len(self.fetched), painted)
            if state != last:
                last, since = state, time.perf_counter()
            if time.perf_counter() - since > quiet:
                return
            self.page.wait_for_timeout(50)

    def submit(self, text: str, patience: float = PATIENCE) -> float:
        """Submit a text in the text box; return the milliseconds until the new view is painted completely."""
        before = self.shown_state()
        self.page.get_by_label("Text", exact=True).fill(text)
        self.page.wait_for_timeout(300)
        self.page.evaluate("() => globalThis.bench.begin()")
        self.page.get_by_label("Text", exact=True).press("Enter")
        shown = self.wait_until_painted(before, patience)
        while shown.split("|")[0] == before.split("|")[0]:  # the old text was painted again
            shown = self.wait_until_painted(shown, patience)
        self.page.wait_for_timeout(100)
        return self.took(shown.split("|")[0])

    def took(self, part: str) -> float:
        """Return the milliseconds from the last input until a view whose state contains ``part`` was painted."""
        asked, painted = self.note("asked"), self.note("painted")
        return float(min(mark["time"] for mark in painted if part in mark["shown"] and mark["time"] > asked) - asked)

    def says(self) -> str:
        """Return the first 300 characters of the page's text, for error messages."""
        return " ".join(self.page.evaluate("() => document.body?.innerText ?? ''").split())[:300]

    def close(self) -> None:
        """Close the page and delete its profile."""
        self.context.close()
