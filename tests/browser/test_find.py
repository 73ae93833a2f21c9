"""Browser test of the Find page: words chosen by clicks and kept in the link, and hostile text."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from attention.view import View
from inference import LocalBackend, TraceRequest
from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems
from tests.support.visitor import DEEP_LINK, open_page, read, said
from ui.input.probes import LIBRARY

FAMOUS = LIBRARY[0]


def test_words_are_picked_by_clicks_and_kept_in_the_link_and_hostile_ones_are_shown_as_text(
    page: Page, app_url: str, problems: Problems
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/find", clicking="second")
    said(page, "to “animal”; in [0-9]+, to “street”")
    click(page.get_by_role("button", name=re.compile("^tired")).first)
    said(page, "to “animal”; in [0-9]+, to “tired”")
    view = View(LocalBackend().trace(TraceRequest(text=FAMOUS.text)), words=True)
    token = next(cell for cell in view.keys if cell.text == "tired").pieces[0]
    expect(page).to_have_url(re.compile(f"against={token}"))
    page.reload()
    said(page, "to “animal”; in [0-9]+, to “tired”")
    read(page, "The <b>cat</b> ![x](http://example.org/a.png) sat on <script>alert(1)</script>.")
    expect(page).to_have_url(re.compile("example.org"))
    rest(page)
    said(page, "is larger to")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=PATIENCE)
    rest(page)
    assert page.locator("img[src*='example.org']").count() == 0
