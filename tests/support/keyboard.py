"""A visitor without a mouse: goes from part to part with Tab alone, until what was looked for has the focus."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.support.atrest import PATIENCE, rest

MOST = 250  # presses: a page has fewer places to stop at, a table's columns among them
AT_ONCE = 20  # presses between two looks, since to look costs more than to press
# Whether the part has the focus; if not, the page does not hear Tab from when it has till it is asked again. A table
# hands its focus on to the cell that is chosen, which is within it, a moment later.
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
    """Press Tab (Shift+Tab leads back) until ``there`` has the focus; fails where it is not reached."""
    expect(there).to_be_visible(timeout=PATIENCE)
    rest(page)
    for _ in range(0, MOST, AT_ONCE):
        if there.evaluate(REACHED):
            return
        for _ in range(AT_ONCE):
            page.keyboard.press(key)
    raise AssertionError(f"{there} is not reached by {key}")
