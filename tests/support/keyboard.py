"""A visitor without a mouse: goes from part to part with Tab alone, until what was looked for has the focus."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.support.browser import PATIENCE, rest

MOST = 250  # presses: a page has fewer places to stop at, a table's columns among them
FOCUSED = "element => element.getRootNode().activeElement === element"


def tab_to(page: Page, there: Locator) -> None:
    """Press Tab until ``there`` has the focus; fails where it is not reached."""
    expect(there).to_be_visible(timeout=PATIENCE)
    rest(page)
    for _ in range(MOST):
        if there.evaluate(FOCUSED):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{there} is not reached by Tab")
