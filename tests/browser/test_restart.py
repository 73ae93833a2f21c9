"""The server is killed and started again while a page is open: what stands in it comes back by itself."""

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

TYPED = "The server will be back soon."  # an edited text, which keeps the view
# What a browser says while nobody answers, and of what it fetched again before the page had the new server's seals.
AWAY = r"ERR_CONNECTION_(REFUSED|RESET)|ERR_EMPTY_RESPONSE|WebSocket|Client Error|410 \(Gone\)|Cannot send rerun"


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
    with running(tmp_path / "second", port=port):
        expect(saved).not_to_have_attribute("href", before, timeout=3 * PATIENCE)  # it has a seal of the new server's
        rest(page)
        old = painted(page, layer=2, head=3, tab="lines")["base"]
        expect(text_box(page)).to_have_value(TYPED)
        text_box(page).press("Enter")
        expect(page).to_have_url(re.compile("be(\\+|%20)back"), timeout=PATIENCE)
        drawn = page.locator("[data-painted]").first
        expect(drawn).not_to_have_attribute("data-painted", re.compile(f"^{re.escape(old)}"))
        painted(page, layer=2, head=3, tab="lines")
        expect(text_box(page)).to_have_value(TYPED)
