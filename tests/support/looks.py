"""A page looked at in several sizes and themes, which a reader may change while the page stands.

accessible_and_fits(page)                                       # both looks of TWO, from one load
for size, theme in each_look(page, LOOKS, lambda: drawn(page)):  # after each change the figure is waited for
    page.screenshot(path=f"{size}-{theme}.png")
for view in each_view(page, SHOWS):                             # all that one page shows, from one load
    accessible_and_fits(page)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.support.accessibility import accessibility
from tests.support.atrest import rest
from tests.support.browser import PHONE, Theme

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

# Whether every figure's title is written in a theme's ink: it is drawn anew when the theme changes.
INKED = """(theme) => [...document.querySelectorAll(".gtitle")].every((title) => {
    const parts = getComputedStyle(title).fill.match(/[0-9]+/g).slice(0, 3);
    return (parts.every((part) => part > 127) ? "dark" : "light") === theme;
})"""

Look = tuple[str, Theme]

DESKTOP: ViewportSize = {"width": 1440, "height": 900}
SIZES = {"desktop": DESKTOP, "phone": PHONE}
# One change of theme, which costs as much as a load. Each size is looked at whole in one theme; the other changes
# colours and nothing else.
LOOKS: tuple[Look, ...] = (("desktop", "light"), ("phone", "light"), ("phone", "dark"), ("desktop", "dark"))
TWO: tuple[Look, ...] = (("desktop", "light"), ("phone", "dark"))
ON_A_PHONE: tuple[Look, ...] = (("phone", "light"), ("phone", "dark"))

# Streamlit's own buttons for its sidebar and menu, and its list of pages, which a page cannot change.
STREAMLITS_OWN = [f"[data-testid='{name}']" for name in ("stSidebarHeader", "stSidebarNav", "stToolbar", "stHeader")]


# Whether the page is drawn in a theme, by what its background is.
THEMED = """(theme) => {
    const app = document.querySelector("[data-testid=stApp]");
    const parts = app && getComputedStyle(app).backgroundColor.match(/[0-9]+/g).slice(0, 3);
    return Boolean(parts) && (parts.every((part) => part > 127) ? "light" : "dark") === theme;
}"""


def each_look(page: Page, looks: Sequence[Look], drawn: Callable[[], object] = lambda: None) -> Iterator[Look]:
    """Each size and theme in turn, once the page stands in it: ``drawn`` waits for the figure. Nothing is cut off. The
    one in which the page stands comes first, since a change of theme costs as much as a load.
    """
    page.mouse.move(0, 0)  # what it stands on says its help late, and would be looked at while that fades in
    for size, theme in sorted(looks, key=lambda look: not _stands_in(page, look)):
        page.set_viewport_size(SIZES[size])
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(THEMED, arg=theme)  # which the page is told a moment later
        rest(page)
        drawn()
        page.wait_for_function(INKED, arg=theme)
        rest(page)  # what stands below the figure has come too
        expect(page.get_by_test_id("stTooltipContent")).to_have_count(0)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"nothing is cut off at the side ({size}, {theme})"
        yield size, theme


def _stands_in(page: Page, look: Look) -> bool:
    size, theme = look
    return page.viewport_size == SIZES[size] and bool(page.evaluate(THEMED, theme))


def accessible_and_fits(page: Page, looks: Sequence[Look] = TWO, drawn: Callable[[], object] = lambda: None) -> None:
    """Fails where the page breaks a rule of accessibility, or is cut off, in any of these looks."""
    found = {look: accessibility(page, leave_out=STREAMLITS_OWN) for look in each_look(page, looks, drawn)}
    assert not any(found.values()), found


def each_view(page: Page, views: Mapping[str, str]) -> Iterator[str]:
    """Each of the views that a page offers under "What to look at", by its short name, once the page stands in it."""
    for view, label in views.items():
        turn(page, label)
        yield view


def turn(page: Page, label: str) -> None:
    """Picks the option of that name among those of which one holds, and waits until the page stands so."""
    picked = page.get_by_role("radio", name=label, exact=True)
    picked.click()
    expect(picked).to_be_checked()
    rest(page)
