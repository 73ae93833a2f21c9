"""The app as a user starts it, and a visitor's browser that notices every complaint and every call to another machine.

Nothing sleeps: the helpers wait until the component says what it has painted.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Locator, Page, expect

ROOT = Path(__file__).resolve().parents[1]
GUARD = ROOT / "tests" / "guard"
SIZES = {"desktop": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}
TWEAKS = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
# Streamlit lists features in its iframes' permissions that Chromium no longer knows, and d3 greets.
HARMLESS = re.compile(r"Unrecognized feature:|^d3 version")
PATIENCE = 30_000  # milliseconds
expect.set_options(timeout=PATIENCE)


def chromium() -> dict[str, object]:
    """How to start the browser: Debian's where it is installed, else Playwright's own."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    arguments = [*TWEAKS, *(["--no-sandbox"] if root else [])]
    return {"args": arguments, **({"executable_path": path} if path else {})}


def free_port() -> int:
    """A port of the loopback address that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class App:
    """`streamlit run app.py` on a port of its own, in which no connection can leave this machine."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        self.log, self.refused = folder / "app.log", folder / "refused.log"
        path = os.pathsep.join([str(GUARD), *filter(None, [os.environ.get("PYTHONPATH")])])
        guarded = {"PYTHONPATH": path, "HEADLIGHT_GUARD_LOG": str(self.refused)}
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.address", "127.0.0.1"]
        self._stream = self.log.open("wb")
        self._process = subprocess.Popen(
            [*command, "--server.port", str(urlsplit(self.url).port)],
            cwd=ROOT,
            env={**os.environ, **guarded, **environment},
            stdout=self._stream,
            stderr=subprocess.STDOUT,
        )
        self._wait_until_it_answers()

    def _wait_until_it_answers(self, tries: int = 600) -> None:
        pause = threading.Event()
        for _ in range(tries):
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5):
                    return
            except OSError:
                if self._process.poll() is not None:
                    break
                pause.wait(0.1)
        raise RuntimeError(f"The app did not start:\n{self.log.read_text()}")

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(timeout=20)
        self._stream.close()


class Complaints:
    """What a page said that it should not have said, and where it wanted to go."""

    def __init__(self, page: Page, home: str) -> None:
        self.found: list[str] = []
        self._home = urlsplit(home).netloc
        page.on("console", lambda message: self._note(message.type, message.text, message.location.get("url", "")))
        page.on("pageerror", lambda error: self.found.append(f"page error: {error}"))
        page.route("**/*", self._route)

    def _note(self, kind: str, text: str, url: str) -> None:
        # A page opened by its own address looks for Streamlit's server beside that address first, and gets a 404.
        looking = "404" in text and "/_stcore/" in url
        if kind in ("error", "warning") and not looking and not HARMLESS.search(text):
            self.found.append(f"{kind}: {text}")

    def _route(self, route: object) -> None:
        address = urlsplit(route.request.url)  # type: ignore[attr-defined]
        if address.scheme in ("http", "https", "ws") and address.netloc != self._home:
            self.found.append(f"a request to {route.request.url}")  # type: ignore[attr-defined]
            route.abort()  # type: ignore[attr-defined]
        else:
            route.continue_()  # type: ignore[attr-defined]


def open_page(page: Page, url: str, path: str = "/", **query: object) -> None:
    """Open a page of the app with a view in its address."""
    page.goto(f"{url}{path}" + (f"?{urlencode(query)}" if query else ""))


def painted(page: Page, **wanted: object) -> dict[str, str]:
    """Wait until the component has painted (with these fields, where given); what it says it has painted."""
    names = ("base", "layer", "head", "focus", "tab")
    pattern = r"\|".join(re.escape(str(wanted[name])) if name in wanted else "[^|]*" for name in names)
    place = page.locator("[data-painted]").first
    expect(place).to_have_attribute("data-painted", re.compile(f"^{pattern}$"), timeout=PATIENCE)
    return dict(zip(names, str(place.get_attribute("data-painted")).split("|"), strict=True))


def text_box(page: Page) -> Locator:
    """Where a visitor types."""
    return page.get_by_role("textbox", name="Text", exact=True)


def read(page: Page, text: str) -> None:
    """Type a text and press Enter."""
    text_box(page).fill(text)
    text_box(page).press("Enter")
