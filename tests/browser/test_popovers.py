"""Browser test of popovers, which Streamlit draws at the end of the document: Tab treats them as part of the page."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.support.atrest import rest
from tests.support.keyboard import tab_to
from tests.support.visitor import open_page


def test_tab_leads_into_an_open_popover_and_out_again(page: Page, app_url: str) -> None:
    open_page(page, app_url)
    rest(page)
    button = page.get_by_role("button", name="View options")
    tab_to(page, button)
    page.keyboard.press("Enter")
    first = page.get_by_test_id("stPopoverBody").get_by_role("checkbox").first
    expect(first).to_be_visible()
    page.keyboard.press("Tab")
    expect(first).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(button).to_be_focused()
    for _ in range(20):
        page.keyboard.press("Tab")
        if not page.evaluate("document.querySelector('[data-testid=stPopoverBody]').contains(document.activeElement)"):
            break
    expect(page.get_by_role("radio", name="tired")).to_be_focused()
