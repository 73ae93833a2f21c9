"""Browser test of the menu of pages on a phone: it closes after the choice of a page."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems
from tests.support.visitor import DEEP_LINK, open_page

PHONE = {"width": 390, "height": 844}
MENU, OPEN = "stSidebarNav", "stExpandSidebarButton"


def test_the_menu_closes_after_the_choice_of_a_page(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    open_page(page, app_url, "/tokens")
    click(page.get_by_test_id(OPEN))
    expect(page.get_by_test_id(MENU)).to_be_in_viewport()
    page.get_by_test_id(MENU).get_by_role("link", name="Lessons").click()
    expect(page).to_have_url(re.compile("/lessons"), timeout=PATIENCE)
    expect(page.get_by_test_id(MENU)).not_to_be_in_viewport(timeout=PATIENCE)
    page.reload()
    rest(page, 2 * PATIENCE)
    expect(page.get_by_test_id(MENU)).not_to_be_in_viewport()
