"""Keyboard navigation of a page with the Tab key."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.support.atrest import PATIENCE, rest

MOST = 250  # Key presses; a page has fewer focusable elements, a table's columns included.
AT_ONCE = 20  # Key presses between two checks, because a check costs more than a press.
# Return true if the element has the focus. If not, ignore Tab from the moment it gets the focus until the next call. A
# table passes its focus to the selected cell, which it contains, a moment later.
REACHED = """(there) => {
    const focused = () => there.contains(there.getRootNode().activeElement);
    window.tabbing?.abort();
    if (focused()) return true;
    window.tabbing = new AbortController();
    const stay = (event) => {
        if (event.key !== "Tab" || !focused()) return;
        event.preventDefault();
        event.stopImmediatePropagation();
    };
    window.addEventListener("keydown", stay, { capture: true, signal: window.tabbing.signal });
    return false;
}"""


def tab_to(page: Page, there: Locator, key: str = "Tab") -> None:
    """Press Tab (or Shift+Tab, to go back) until ``there`` has the focus; fail if it is not reached."""
    expect(there).to_be_visible(timeout=PATIENCE)
    rest(page)
    for _ in range(0, MOST, AT_ONCE):
        if there.evaluate(REACHED):
            return
        for _ in range(AT_ONCE):
            page.keyboard.press(key)
    raise AssertionError(f"{there} is not reached by {key}")
