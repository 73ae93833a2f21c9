"""Browser test of a server restart: the open page reconnects and restores its text and view."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support.atrest import PATIENCE, rest
from tests.support.browser import Problems
from tests.support.running import free_port, running
from tests.support.visitor import open_page, painted, text_box

TYPED = "The server will be back soon."  # The app keeps the view for this edited text.
# Streamlit merges simultaneous changes into a single message, which runs only a fragment if the first change belongs
# to a fragment. Hold back timers until the page has reconnected, so that the microscope's change comes first. The new
# server lacks the microscope's fragment.
ONE_MOMENT = """() => {
    const later = setTimeout, held = [];
    const app = document.querySelector("[data-testid=stApp]");
    window.setTimeout = (run, delay, ...given) => delay ? later(run, delay, ...given) : held.push(() => run(...given));
    new MutationObserver(() => {
        if (app.getAttribute("data-test-connection-state") !== "CONNECTED") return;
        window.setTimeout = later;
        later(() => held.splice(0).forEach((run) => run()));
    }).observe(app, { attributeFilter: ["data-test-connection-state"] });
}"""
# Expected console messages while the server is down, and for requests with signatures of the old server.
AWAY = (
    r"ERR_(CONNECTION_(REFUSED|RESET)|FAILED|EMPTY_RESPONSE)|WebSocket|Client Error|410 \(Gone\)|Cannot send rerun"
    "|server is not responding"
)


def let_the_microscope_hear_first(page: Page) -> None:
    """Block the health check until the microscope has received status 410 for its lost trace."""
    told = []
    page.on("response", lambda answer: told.append(answer) if answer.status == 410 else None)
    page.route("**/_stcore/health", lambda route: route.continue_() if told else route.abort())


def test_text_view_and_what_is_being_typed_come_back(page: Page, problems: Problems, tmp_path: Path) -> None:
    problems.allow(AWAY)
    port = free_port()
    with running(tmp_path / "first", port=port) as first:
        open_page(page, first.url, text="The server will be gone.", layer=2, head=3, tab="lines")
        painted(page, layer=2, head=3, tab="lines")
        saved = page.get_by_role("link", name="Save the trace")
        before = str(saved.get_attribute("href"))
        rest(page)
        text_box(page).fill(TYPED)
        os.killpg(first.process.pid, signal.SIGKILL)
        first.process.wait()
        page.evaluate(ONE_MOMENT)
        with page.expect_request(re.compile("/rows")):  # The microscope repeats its request until a server answers.
            page.locator(".chips").first.get_by_role("button").nth(4).hover()
        let_the_microscope_hear_first(page)
    with running(tmp_path / "second", port=port):
        # The new link is signed by the new server.
        expect(saved).not_to_have_attribute("href", before, timeout=3 * PATIENCE)
        rest(page)
        expect(text_box(page)).to_have_value(TYPED)
        text_box(page).press("Enter")
        expect(page).to_have_url(re.compile("be(\\+|%20)back"), timeout=PATIENCE)
        painted(page, layer=2, head=3, tab="lines")
        expect(text_box(page)).to_have_value(TYPED)
