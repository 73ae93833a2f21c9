"""The app in a real browser: fixtures that tests/conftest.py offers, and helpers to import from here.

    def test_a_click_is_kept(page, app_url):
        visit(page, app_url)                                   # waits until the page stands
        page.get_by_role("button", name="Layer 3").click()
        expect(page).to_have_url(re.compile("layer=3"))        # wait on what is to be seen, never on time
        click(page.get_by_text("The same as a table"))         # what stands below drawings that are still to come

Fixtures
    app_url     where the app answers; started once, offline, its log read at the end: a traceback fails the last test
    app         the same with .log (a Path), .process, and .models, the folder that it may open models from
    scripts     a server of the tests' own pages: ``scripts.page("trees", PAGE)`` is the address of one, a script
    page        a Playwright page without a past. The test fails on a console error, an error in the page, or a request
                that leaves this machine (which is also refused)
    problems    what was noticed on this page; ``problems.allow("404")`` for what a test provokes on purpose
    viewport, colour_scheme     LAPTOP and "light" unless a test says otherwise:
                @pytest.mark.parametrize("viewport", [PHONE, LAPTOP, WIDE])
                @pytest.mark.parametrize("colour_scheme", ["light", "dark"])

A page that failed its test leaves a picture in tests/out/.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, ViewportSize

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "tests" / "out"

PHONE: ViewportSize = {"width": 390, "height": 844}
LAPTOP: ViewportSize = {"width": 1280, "height": 800}
WIDE: ViewportSize = {"width": 1920, "height": 1080}

Theme = Literal["light", "dark"]

PATIENCE = 60_000  # ms that a page may take for anything: on a busy machine the first one waits half of it for torch
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


# What the shell mounts on every page: the mark of rest, and the run that a change of theme asks for.
LIKE_THE_SHELL = """from viz.components.rest import rest as mark_of_rest
from viz.components.theme_change import theme_change as change_of_theme

mark_of_rest.mount()
change_of_theme.mount()"""
# A page of `scripts` runs the script whose name its address held when it was opened.
BY_NAME = """import streamlit as st

st.session_state.setdefault("script", st.query_params.get("script"))
st.navigation([st.Page(f"scripts/{st.session_state.script}.py")], position="hidden").run()"""
# As our app is started: nothing looks through torch's thousands of modules, or collects garbage, after every run.
AT_EASE = ("--server.fileWatcherType=none", "--runner.postScriptGC=false")


# --- the app -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class App:
    """A running app: where it answers, and what it has printed."""

    url: str
    log: Path
    process: subprocess.Popen[bytes]
    models: Path = Path()  # the folder that models may be opened from, where there is one


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(  # noqa: PLR0913  (an app has many ways to be started)
    log: Path,
    main: str = "app.py",
    folder: Path = ROOT,
    options: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
    base: str = "",
    port: int | None = None,
) -> Iterator[App]:
    """The app, from the moment it answers until the block ends. ``log`` receives what it prints; ``base`` is the path
    below which it is served, such as "/some/path"; ``port`` is any that is free, unless it is given."""
    port = free_port() if port is None else port
    command = [sys.executable, "-m", "streamlit", "run", main, f"--server.port={port}", "--server.address=127.0.0.1"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **(environ or {})}
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [*command, *options, *([f"--server.baseUrlPath={base}"] if base else [])],
            cwd=folder,
            env=environment,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    started = App(f"http://127.0.0.1:{port}{base}", log, process)
    try:
        _until_healthy(started)
        yield started
    finally:
        _end(process)


@contextmanager
def one_script(folder: Path, script: str, **environ: str) -> Iterator[App]:
    """An app of one script, which may import ours; it says when it is at rest and follows the theme, as ours does."""
    (folder / "main.py").write_text(f"{LIKE_THE_SHELL}\n{script}", encoding="utf-8")
    search = os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]])
    with running(folder / "log", "main.py", folder, AT_EASE, {"PYTHONPATH": search, **environ}) as started:
        yield started


def _until_healthy(started: App) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline and started.process.poll() is None:
        try:
            with urllib.request.urlopen(f"{started.url}/_stcore/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)  # nobody listens yet
    raise RuntimeError(f"The app did not answer within {PATIENCE // 1000} s; it printed:\n{started.log.read_text()}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
        process.wait()


# A page that is closed while its connection is being made: Streamlit answers it, fails, and says so. Nobody waits.
GONE = re.compile(
    r"Exception in ASGI application\n(?:(?!Exception in ASGI application).)*?"
    r"WebSocketDisconnected: Cannot call \"send\" once a close message has been sent\.\n?",
    re.DOTALL,
)


def faults(log: str) -> list[str]:
    """What a server's log must not hold: tracebacks, and attempts to reach another machine.

    >>> faults("  Headlight is at  http://localhost:8501")
    []
    """
    marks = ("Traceback (most recent call last)", "the tests stay on this machine")
    plain = GONE.sub("", re.sub(r"\x1b\[[0-9;]*m", "", log))  # without colours
    return [line for line in plain.splitlines() if any(mark in line for mark in marks)]


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory, windows: Windows) -> Iterator[App]:
    """The app as `make run` starts it, offline, warm: it has had a visitor, and its model is there. It may open models
    from one folder, empty at first. Its log must be clean when all tests are through."""
    log, models = tmp_path_factory.mktemp("app") / "app.log", tmp_path_factory.mktemp("models")
    places = {"HEADLIGHT_MODEL_FOLDERS": str(models), "HEADLIGHT_TAUGHT": str(log.with_name("taught"))}
    plain = {"NUMBA_DISABLE_JIT": "1"}  # to compile UMAP takes longer than to place some dozens of points without
    with running(log, environ={**places, **plain}) as started:
        first = windows.current().new_page()
        first.goto(started.url)
        rest(first, 3 * PATIENCE)
        forget(first)
        yield replace(started, models=models)
    text = log.read_text(errors="replace")
    assert not faults(text), f"The app's log has errors:\n{text}"


@pytest.fixture(scope="session")
def app_url(app: App) -> str:
    """Where the app answers, without a slash at the end."""
    return app.url


@dataclass(frozen=True)
class Scripts:
    """A server of pages that stand alone, each a script that may import ours."""

    url: str
    folder: Path
    models: Path  # the folder that their models may be opened from

    def page(self, name: str, script: str) -> str:
        """The address of a page that runs this script."""
        (self.folder / f"{name}.py").write_text(script, encoding="utf-8")
        return f"{self.url}/?script={name}"


@pytest.fixture(scope="session")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scripts]:
    """One server for all pages that stand alone. Its log must be clean when all tests are through."""
    folder, models = tmp_path_factory.mktemp("scripts"), tmp_path_factory.mktemp("models")
    (folder / "scripts").mkdir()
    with one_script(folder, BY_NAME, HEADLIGHT_MODEL_FOLDERS=str(models)) as started:
        yield Scripts(started.url, folder / "scripts", models)
    text = started.log.read_text(errors="replace")
    assert not faults(text), f"The log of the tests' own pages has errors:\n{text}"


# --- the browser -------------------------------------------------------------------------------------------------


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


def visit(page: Page, address: str) -> Page:
    """Opens an address of the app and waits until its page stands: it has a heading, and is at rest."""
    from playwright.sync_api import expect

    page.goto(address)
    expect(page.get_by_test_id("stMain").get_by_role("heading").first).to_be_visible()
    rest(page)
    return page


def rest(page: Page, patience: int = PATIENCE) -> None:
    """Waits until the page says that it is at rest: its script has ended, what comes late has come, nothing moves. What
    a test does on the page ends the rest at once, so that after a click this waits for the page's answer."""
    page.evaluate(RESTS, patience)


def click(place: Locator) -> None:
    """Clicks once the page is at rest: what comes late above it would move it away from under the click."""
    rest(place.page)
    place.click()


RESTS = """(patience) => new Promise((done, fail) => {
    const mark = document.documentElement;
    const watch = new MutationObserver(look);
    const late = setTimeout(() => fail(new Error(`The page did not come to rest within ${patience} ms.`)), patience);
    function look() {
        if (mark.dataset.rest !== "true") return;
        clearTimeout(late);
        watch.disconnect();
        done();
    }
    watch.observe(mark, { attributeFilter: ["data-rest"] });
    look();
})"""


def hears_clicks(figure: Locator) -> None:
    """Waits until a plotly figure on which points are picked hears clicks: it is drawn some frames before that."""
    deaf = "it._fullLayout?.clickmode !== 'event+select' || !it._ev?._events?.plotly_click"
    late = f"if (performance.now() > end) throw new Error('The figure did not hear clicks within {PATIENCE} ms.')"
    frame = "await new Promise(requestAnimationFrame)"
    figure.evaluate(
        f"async (it) => {{ const end = performance.now() + {PATIENCE}; while ({deaf}) {{ {late}; {frame}; }} }}"
    )


# --- accessibility -----------------------------------------------------------------------------------------------

STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OF_COLOURS = ["color-contrast", "link-in-text-block"]  # those of their rules that another theme can break


@cache
def _axe() -> str:
    import axe_playwright_python

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def accessibility(
    page: Page, leave_out: Sequence[str] = (), rules_off: Sequence[str] = (), only: Sequence[str] = ()
) -> list[str]:
    """Where the page breaks WCAG 2.2 A or AA as far as axe-core can tell, a line for each place; shadow trees included.

    ``leave_out`` are CSS selectors, ``rules_off`` ids of rules, for what is Streamlit's own; say why at the call.
    ``only`` these rules are looked at, where the others have been on the same page.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(f"() => {{ {_axe()}; }}")  # by the debugger's way in: the app's policy forbids inline scripts
    options = {
        "runOnly": {"type": "rule", "values": only} if only else {"type": "tag", "values": STANDARDS},
        "rules": {rule: {"enabled": False} for rule in rules_off},
        "resultTypes": ["violations"],
    }
    context = {"include": [["html"]], "exclude": [[selector] for selector in leave_out]}
    look = "async ([context, options]) => (await axe.run(context, options)).violations"
    found = page.evaluate(look, [context, options])
    return [
        f"{rule['id']} ({rule['impact']}): {rule['help']}: {' '.join(map(str, node['target']))}"
        for rule in found
        for node in rule["nodes"]
    ]
