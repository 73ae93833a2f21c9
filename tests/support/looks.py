"""Checks of a page in several sizes and themes, which change while the page is open.

accessible_and_fits(page)                                       # both looks of TWO, from a single load
for size, theme in each_look(page, LOOKS, lambda: drawn(page)):  # waits for the figure after each change
    page.screenshot(path=f"{size}-{theme}.png")
for view in each_view(page, SHOWS):                             # all views of a page, from a single load
    accessible_and_fits(page)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.support.accessibility import accessibility
from tests.support.atrest import click, rest
from tests.support.browser import PHONE, Theme

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

# Return true if every figure's title has the text colour of a theme; figures are redrawn after a change.
INKED = """(theme) => [...document.querySelectorAll(".gtitle")].every((title) => {
    const parts = getComputedStyle(title).fill.match(/[0-9]+/g).slice(0, 3);
    return (parts.every((part) => part > 127) ? "dark" : "light") === theme;
})"""

Look = tuple[str, Theme]

DESKTOP: ViewportSize = {"width": 1440, "height": 900}
SIZES = {"desktop": DESKTOP, "phone": PHONE}
# The theme changes once, because a change costs as much as a load. Each size is checked fully in a theme, and the
# second theme changes colours only.
LOOKS: tuple[Look, ...] = (("desktop", "light"), ("phone", "light"), ("phone", "dark"), ("desktop", "dark"))
TWO: tuple[Look, ...] = (("desktop", "light"), ("phone", "dark"))
ON_A_PHONE: tuple[Look, ...] = (("phone", "light"), ("phone", "dark"))

# A page cannot change Streamlit's own buttons for its sidebar and menu, nor its list of pages.
STREAMLITS_OWN = [f"[data-testid='{name}']" for name in ("stSidebarHeader", "stSidebarNav", "stToolbar", "stHeader")]


# Return true if the page's background has the brightness of a theme.
THEMED = """(theme) => {
    const app = document.querySelector("[data-testid=stApp]");
    const parts = app && getComputedStyle(app).backgroundColor.match(/[0-9]+/g).slice(0, 3);
    return Boolean(parts) && (parts.every((part) => part > 127) ? "light" : "dark") === theme;
}"""


def each_look(page: Page, looks: Sequence[Look], drawn: Callable[[], object] = lambda: None) -> Iterator[Look]:
    """Yield each size and theme when the page is drawn in it; fail if the page is wider than the window.

    ``drawn`` waits for the figure. The page's current look comes first, because a change of theme costs as much as
    a load.
    """
    page.mouse.move(0, 0)  # A tooltip below the mouse would fade in during the check.
    for size, theme in sorted(looks, key=lambda look: not _stands_in(page, look)):
        page.set_viewport_size(SIZES[size])
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(THEMED, arg=theme)  # The page receives the change of theme a moment later.
        rest(page)
        drawn()
        page.wait_for_function(INKED, arg=theme)
        rest(page)  # The parts below the figure appear after it.
        expect(page.get_by_test_id("stTooltipContent")).to_have_count(0)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"nothing is cut off at the side ({size}, {theme})"
        yield size, theme


def _stands_in(page: Page, look: Look) -> bool:
    size, theme = look
    return page.viewport_size == SIZES[size] and bool(page.evaluate(THEMED, theme))


def accessible_and_fits(page: Page, looks: Sequence[Look] = TWO, drawn: Callable[[], object] = lambda: None) -> None:
    """Fail if the page violates a rule of accessibility or is wider than the window in any of these looks.

    The page is scrolled to its top first, because a button that the window cuts off counts as too small.
    """
    found = {}
    for look in each_look(page, looks, drawn):
        page.get_by_test_id("stMain").evaluate("(main) => main.scrollTo(0, 0)")
        found[look] = accessibility(page, leave_out=STREAMLITS_OWN)
    assert not any(found.values()), found


def each_view(page: Page, views: Mapping[str, str]) -> Iterator[str]:
    """Select each view under "View"; yield its short name when the page shows it."""
    for view, label in views.items():
        turn(page, label)
        yield view


def turn(page: Page, label: str) -> None:
    """Select a radio option by its name and wait until the page is at rest."""
    picked = page.get_by_role("radio", name=label, exact=True)
    click(picked)
    expect(picked).to_be_checked()
    rest(page)
