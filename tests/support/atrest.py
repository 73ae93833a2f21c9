"""A page of the app that stands, is at rest, hears clicks: what a test waits for, never for time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PATIENCE = 60_000  # ms that a page may take for anything: on a busy machine the first one waits half of it for torch

RESTS = """(patience) => new Promise((done, fail) => {
    const mark = document.documentElement;
    const watch = new MutationObserver(look);
    const late = setTimeout(() => fail(new Error(`The page did not come to rest within ${patience} ms.`)), patience);
    function look() {
        if (mark.dataset.rest !== "true") return;
        clearTimeout(late);
        watch.disconnect();
        done();
    }
    watch.observe(mark, { attributeFilter: ["data-rest"] });
    look();
})"""


def visit(page: Page, address: str) -> Page:
    """Opens an address of the app and waits until its page stands: it has a heading, and is at rest."""
    from playwright.sync_api import expect

    page.goto(address)
    expect(page.get_by_test_id("stMain").get_by_role("heading").first).to_be_visible()
    rest(page)
    return page


def rest(page: Page, patience: int = PATIENCE) -> None:
    """Waits until the page says that it is at rest: its script has ended, what comes late has come, nothing moves. What
    a test does on the page ends the rest at once, so that after a click this waits for the page's answer."""
    page.evaluate(RESTS, patience)


def click(place: Locator) -> None:
    """Clicks once the page is at rest: what comes late above it would move it away from under the click."""
    rest(place.page)
    place.click()


def hears_clicks(figure: Locator) -> None:
    """Waits until a plotly figure on which points are picked hears clicks: it is drawn some frames before that."""
    deaf = "it._fullLayout?.clickmode !== 'event+select' || !it._ev?._events?.plotly_click"
    late = f"if (performance.now() > end) throw new Error('The figure did not hear clicks within {PATIENCE} ms.')"
    frame = "await new Promise(requestAnimationFrame)"
    figure.evaluate(
        f"async (it) => {{ const end = performance.now() + {PATIENCE}; while ({deaf}) {{ {late}; {frame}; }} }}"
    )
