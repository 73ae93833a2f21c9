"""The app in a real browser: fixtures that tests/conftest.py offers. What a test calls stands beside: how it waits in
atrest.py, how it starts another app in running.py, what axe-core says in accessibility.py.

    def test_a_click_is_kept(page, app_url):
        visit(page, app_url)                                   # waits until the page stands
        page.get_by_role("button", name="Layer 3").click()
        expect(page).to_have_url(re.compile("layer=3"))        # wait on what is to be seen, never on time
        click(page.get_by_text("The same as a table"))         # what stands below drawings that are still to come

Fixtures (those of servers are in apps.py)
    app_url     where the app answers; started once, offline, its log read at the end: a traceback fails the last test
    app         the same with .log (a Path), .process, and .models, the folder that it may open models from
    scripts     a server of the tests' own pages: ``scripts.page("trees", PAGE)`` is the address of one, a script
    page        a Playwright page without a past. The test fails on a console error, an error in the page, or a request
                that leaves this machine (which is also refused)
    problems    what was noticed on this page; ``problems.allow("404")`` for what a test provokes on purpose
    viewport, colour_scheme     LAPTOP and "light" unless a test says otherwise:
                @pytest.mark.parametrize("viewport", [PHONE, LAPTOP])
                @pytest.mark.parametrize("colour_scheme", ["light", "dark"])

A page that failed its test leaves a picture in tests/out/.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import pytest

from tests.support.atrest import PATIENCE
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize

OUT = ROOT / "tests" / "out"

PHONE: ViewportSize = {"width": 390, "height": 844}
LAPTOP: ViewportSize = {"width": 1280, "height": 800}

Theme = Literal["light", "dark"]

FAILED = pytest.StashKey[bool]()  # whether a test itself failed; tests/conftest.py sets it

# What Chromium would otherwise ask other machines for, and a resolver that knows this machine only.
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
    # With one process for all pages a visit takes two thirds: Streamlit's scripts are compiled already.
    "--renderer-process-limit=1",
    # A page is left before what compiling its busiest functions costs has come back.
    "--js-flags=--no-opt --no-maglev",
]
HERE = {"localhost", "127.0.0.1", "::1"}


def chromium() -> str | None:
    """The Chromium to start: the one that is named, the system's, or None for Playwright's own.

    The one without a window, where there is one: a visit takes it 30 % less of the processor.
    """
    return os.environ.get("HEADLIGHT_CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium(), args=[*ARGUMENTS, *(["--no-sandbox"] if as_root else [])]
        )
        yield started
        started.close()


# Streamlit looks for the file of a button that saves as soon as the button stands, and in vain when the page has been
# drawn again by then. No reader sees that; that files can be saved is seen by the tests that save them.
TOO_LATE = r"404 \(Not Found\) \(http://[^/]+/media/[0-9a-f]+\.\w+\)|Download Button source error - 404"


@dataclass
class Problems:
    """What a page should not have done, a sentence each, in order."""

    noticed: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=lambda: [TOO_LATE])

    def allow(self, pattern: str) -> None:
        """Problems that match a regular expression are expected in this test."""
        self.allowed.append(pattern)

    def left(self) -> list[str]:
        """The problems that nobody expected."""
        return [said for said in self.noticed if not any(re.search(pattern, said) for pattern in self.allowed)]

    def watch(self, page: Page) -> None:
        """Notices what happens on a page from now on."""
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
    """Whether an address is answered by this machine.

    >>> [stays(url) for url in ("http://127.0.0.1:8501/a", "data:,x", "blob:null/1", "https://example.org/", "//x.org")]
    [True, True, True, False, False]
    """
    parts = urlsplit(url)
    return parts.hostname in HERE or (parts.scheme in {"about", "blob", "data"} and not parts.netloc)


@pytest.fixture
def viewport() -> ViewportSize:
    """The size of the page; parametrise it to ask for others."""
    return LAPTOP


@pytest.fixture
def colour_scheme() -> Theme:
    """What the reader's system prefers; parametrise it to ask for "dark"."""
    return "light"


@pytest.fixture
def problems() -> Problems:
    """What is noticed on this test's page."""
    return Problems()


class Windows:
    """The browser's window, as it were, and another in time: the one process that draws its pages keeps much of those
    that it has closed, 1.6 GB after some 160. Not too soon: each window fetches all of Streamlit's scripts anew.
    """

    ENOUGH = 80  # pages; a file's tests all open theirs in one window

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._open: BrowserContext | None = None
        self._pages = 0

    def current(self) -> BrowserContext:
        """The window for a file's tests, once those of the file before are through."""
        if self._open is not None and self._pages >= self.ENOUGH:
            self.close()
        if self._open is None:
            self._open = self._browser.new_context(locale="en-GB", service_workers="block")
            self._open.set_default_timeout(PATIENCE)
            self._open.on("page", self._count)
            self._open.new_page()  # keeps the process
        return self._open

    def close(self) -> None:
        """The window goes, and what it has kept with it."""
        if self._open is not None:
            self._open.close()
        self._open, self._pages = None, 0

    def _count(self, _page: Page) -> None:
        self._pages += 1


@pytest.fixture(scope="session")
def windows(browser: Browser) -> Iterator[Windows]:
    """The one window, or the next."""
    made = Windows(browser)
    yield made
    made.close()


@pytest.fixture(scope="module")
def profile(windows: Windows) -> Iterator[BrowserContext]:
    """The window that a file's tests open their pages in, with what links have opened closed in the end."""
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
    """A page without a past. Fails the test for what ``problems`` noticed and nobody allowed."""
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
    """Closes a page, and with it what the browser has kept of it: cookies, what scripts store. Files stay that are
    named by their content (Streamlit's scripts, traces), till the window is closed.
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
    """A picture of the page in tests/out/."""
    OUT.mkdir(exist_ok=True)
    page.screenshot(path=OUT / f"{re.sub(r'[^A-Za-z0-9_-]+', '-', name).strip('-')}.png")
