"""Fixtures for tests of the app in a real browser, which tests/conftest.py imports.

The functions for tests are in atrest.py (waiting), running.py (further apps) and accessibility.py (axe-core).

    def test_a_click_is_kept(page, app_url):
        visit(page, app_url)                                   # waits until the page is loaded and at rest
        click(page.get_by_role("button", name="Layer 3"))      # waits until no late part of the page can move it
        expect(page).to_have_url(re.compile("layer=3"))        # wait for visible results, never for a fixed time

Fixtures (those of servers are in apps.py)
    app_url     the address of the app, started a single time, offline. Its log is read at the end: a traceback fails
                the last test
    app         the app with .log (a Path), .process, and .models, the folder that it may open models from
    scripts     a server of the tests' own pages: ``scripts.page("trees", PAGE)`` returns the address of a script
    page        a fresh Playwright page. The test fails on a console error, an error in the page, or a request to
                another machine (which is also blocked)
    problems    the problems of this page; ``problems.allow("404")`` allows those that a test causes on purpose
    viewport, colour_scheme     LAPTOP and "light" by default:
                @pytest.mark.parametrize("viewport", [PHONE, LAPTOP])
                @pytest.mark.parametrize("colour_scheme", ["light", "dark"])

A page that fails its test leaves a picture in tests/out/.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import pytest

from tests.support.atrest import PATIENCE
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, ViewportSize

OUT = ROOT / "tests" / "out"

PHONE: ViewportSize = {"width": 390, "height": 844}
LAPTOP: ViewportSize = {"width": 1280, "height": 800}

Theme = Literal["light", "dark"]

FAILED = pytest.StashKey[bool]()  # True if the test itself failed; tests/conftest.py sets the value.

# These flags prevent Chromium's own requests to other machines and resolve only this machine's names.
ARGUMENTS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-gpu",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1, EXCLUDE [::1]",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-proxy-server",
    # A single process for all pages saves a third of a visit's time, because Streamlit's scripts are already compiled.
    "--renderer-process-limit=1",
]
# A page is closed before optimised functions have repaid the time of their compilation, unless it computes a model.
# Scripts that are parsed while they arrive are parsed again for each page, although the process has them compiled.
UNOPTIMISED = "--js-flags=--no-opt --no-maglev --no-script-streaming"
HERE = {"localhost", "127.0.0.1", "::1"}
# Streamlit's placeholders pulse until the page is drawn. Each frame of the pulse redraws the window without a graphics
# card, which took a tenth of a visit's processor time. The rule comes by script because the app's policy forbids
# inline styles.
STILL = """const still = new CSSStyleSheet();
still.replaceSync("[data-testid=stSkeleton], [data-testid=stSkeleton] * { animation: none !important; }");
document.adoptedStyleSheets.push(still);"""


def chromium() -> str | None:
    """Return the path of the Chromium to start, or None for Playwright's own.

    The environment variable ``HEADLIGHT_CHROMIUM`` comes first, then the system's headless shell, which needs 30 %
    less processor time for a visit, then the system's Chromium.
    """
    return os.environ.get("HEADLIGHT_CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Yield Playwright, of which a process can run only one."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as started:
        yield started


@contextmanager
def start_browser(playwright: Playwright, *flags: str) -> Iterator[Browser]:
    """Start Chromium with further flags, and close it at the end."""
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    arguments = [*ARGUMENTS, *flags, *(["--no-sandbox"] if as_root else [])]
    started = playwright.chromium.launch(executable_path=chromium(), args=arguments)
    yield started
    started.close()


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Yield the Chromium that most tests share."""
    with start_browser(playwright, UNOPTIMISED) as started:
        yield started


# Streamlit requests the file of a download button when the button appears, and fails if the page has been drawn again
# by then. No reader sees this failure; other tests check that files can be saved.
TOO_LATE = r"404 \(Not Found\) \(http://[^/]+/media/[0-9a-f]+\.\w+\)|Download Button source error - 404"


@dataclass
class Problems:
    """The errors and the requests to other machines on a page, a sentence each, in order."""

    noticed: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=lambda: [TOO_LATE])

    def allow(self, pattern: str) -> None:
        """Allow problems that match a regular expression in this test."""
        self.allowed.append(pattern)

    def left(self) -> list[str]:
        """Return the problems that the test does not allow."""
        return [said for said in self.noticed if not any(re.search(pattern, said) for pattern in self.allowed)]

    def watch(self, page: Page) -> None:
        """Record the problems of a page from now on."""
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.noticed.append(f"error in the page: {error}"))
        page.on("request", lambda request: self._address(request.url))
        page.on("websocket", lambda websocket: self._address(websocket.url))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.noticed.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _address(self, url: str) -> None:
        if not stays(url):
            self.noticed.append(f"request to another machine: {url[:200]}")


def stays(url: str) -> bool:
    """Return True if an address needs no other machine.

    >>> [stays(url) for url in ("http://127.0.0.1:8501/a", "data:,x", "blob:null/1", "https://example.org/", "//x.org")]
    [True, True, True, False, False]
    """
    parts = urlsplit(url)
    return parts.hostname in HERE or (parts.scheme in {"about", "blob", "data"} and not parts.netloc)


@pytest.fixture
def viewport() -> ViewportSize:
    """Return the size of the page; parametrise it for other sizes."""
    return LAPTOP


@pytest.fixture
def colour_scheme() -> Theme:
    """Return the colour scheme that the reader's system prefers; parametrise it for "dark"."""
    return "light"


@pytest.fixture
def problems() -> Problems:
    """Return the record of problems for this test's page."""
    return Problems()


def new_window(browser: Browser, **options: Any) -> BrowserContext:
    """Return a new window in which Streamlit's placeholders do not pulse."""
    window = browser.new_context(**{"locale": "en-GB", **options})
    window.add_init_script(STILL)
    return window


class Windows:
    """The browser's current window, replaced after ``ENOUGH`` pages.

    The process that draws the pages keeps much of the memory of closed pages, 1.6 GB after some 160. Each new
    window fetches all of Streamlit's scripts again, so that a smaller limit costs time.
    """

    ENOUGH = 80  # A file's tests open all their pages in the same window, so that a window may have more pages.

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._open: BrowserContext | None = None
        self._pages = 0

    def current(self) -> BrowserContext:
        """Return the window for a file's tests; replace the window first if it has had enough pages."""
        if self._open is not None and self._pages >= self.ENOUGH:
            self.close()
        if self._open is None:
            self._open = new_window(self._browser, service_workers="block")
            self._open.set_default_timeout(PATIENCE)
            self._open.on("page", self._count)
            self._open.new_page()  # An open page keeps the process alive.
        return self._open

    def close(self) -> None:
        """Close the window and release its memory."""
        if self._open is not None:
            self._open.close()
        self._open, self._pages = None, 0

    def _count(self, _page: Page) -> None:
        self._pages += 1


@pytest.fixture(scope="session")
def windows(browser: Browser) -> Iterator[Windows]:
    """Yield the source of windows that all tests share."""
    made = Windows(browser)
    yield made
    made.close()


@pytest.fixture(scope="module")
def profile(windows: Windows) -> Iterator[BrowserContext]:
    """Yield the window for a file's tests; at the end close the pages that links have opened."""
    window = windows.current()
    yield window
    for left in window.pages[1:]:
        left.close()


@pytest.fixture
def page(
    request: pytest.FixtureRequest,
    profile: BrowserContext,
    problems: Problems,
    viewport: ViewportSize,
    colour_scheme: Theme,
) -> Iterator[Page]:
    """Yield a fresh page; fail the test if ``problems`` contains problems that the test does not allow."""
    opened = profile.new_page()
    opened.set_viewport_size(viewport)
    opened.emulate_media(color_scheme=colour_scheme)
    problems.watch(opened)
    yield opened
    if request.node.stash.get(FAILED, False) or problems.left():
        keep(opened, request.node.name)
    forget(opened)
    assert not problems.left(), "\n".join(problems.left())


def forget(page: Page) -> None:
    """Close a page and delete its data in the browser: cookies and the storage of scripts.

    Files that are named by their content (Streamlit's scripts, traces) stay until the window is closed.
    """
    parts = urlsplit(page.url)
    session = page.context.new_cdp_session(page)
    session.send("Network.clearBrowserCookies")
    if parts.netloc:
        session.send(
            "Storage.clearDataForOrigin", {"origin": f"{parts.scheme}://{parts.netloc}", "storageTypes": "all"}
        )
    page.close()


def keep(page: Page, name: str) -> None:
    """Save a picture of the page in tests/out/."""
    OUT.mkdir(exist_ok=True)
    page.screenshot(path=OUT / f"{re.sub(r'[^A-Za-z0-9_-]+', '-', name).strip('-')}.png")
