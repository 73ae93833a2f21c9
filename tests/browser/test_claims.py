"""Browser test of a lesson on common claims: old address, answer, further views, and the way back."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from lessons.library import come_along
from tests.support.accessibility import accessibility
from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems
from tests.support.looks import STREAMLITS_OWN
from tests.support.visitor import DEEP_LINK, open_page, stands
from ui.state.navigation import BY_VIEW, title_of

LESSON = come_along()["claims_translation"]


def test_a_claim_is_checked_from_its_old_address(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/tutorials", theme="translation")
    stands(page)
    expect(page).to_have_url(re.compile(r"/lessons\?lesson=claims_translation"), timeout=PATIENCE)
    rest(page)
    for step in LESSON.steps:
        expect(page.get_by_role("heading", name=step.title.in_language("en"), exact=True)).to_be_visible(
            timeout=PATIENCE
        )
        rest(page)
        page.keyboard.press("Alt+PageDown")
    rest(page)
    address = page.url
    assert "step=7" in address
    page.get_by_role("textbox", name="Your answer").fill("104")
    click(page.get_by_role("button", name="Check"))
    expect(page.get_by_text("Right.", exact=True)).to_be_visible(timeout=2 * PATIENCE)
    assert accessibility(page, leave_out=STREAMLITS_OWN) == []
    click(page.get_by_test_id("stMain").get_by_role("link", name=str(title_of("whole_pass"))))
    expect(page.get_by_role("heading", level=1)).to_have_text(BY_VIEW["whole_pass"].title, timeout=PATIENCE)
    rest(page)
    page.go_back()
    expect(page.get_by_role("heading", name=LESSON.steps[-1].title.in_language("en"))).to_be_visible(timeout=PATIENCE)
    assert page.url == address
