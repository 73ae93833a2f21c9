"""Functions that wait until a page of the app is loaded, at rest or ready for clicks, without fixed delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Position

PATIENCE = 60_000  # Milliseconds; on a busy machine the first page waits half of this for torch.

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
    """Open an address of the app and wait until its page shows a heading and is at rest."""
    from playwright.sync_api import expect

    page.goto(address)
    expect(page.get_by_test_id("stMain").get_by_role("heading").first).to_be_visible()
    rest(page)
    return page


def rest(page: Page, patience: int = PATIENCE) -> None:
    """Wait until the page is at rest: its script has ended, late parts are shown, and nothing moves.

    Each action of a test ends the rest immediately, so that this function, called after a click, waits for the
    page's answer.
    """
    page.evaluate(RESTS, patience)


def click(place: Locator, patience: int = PATIENCE, position: Position | None = None) -> None:
    """Click when the page is at rest, by default in the middle of ``place``.

    Parts above ``place`` that appear late would move it away from the click. ``patience`` limits the wait for the
    page and then the wait for ``place``, each in milliseconds.
    """
    rest(place.page, patience)
    place.click(timeout=patience, position=position)


def hears_clicks(figure: Locator) -> None:
    """Wait until a plotly figure handles clicks on points, some frames after the figure is drawn."""
    deaf = "it._fullLayout?.clickmode !== 'event+select' || !it._ev?._events?.plotly_click"
    late = f"if (performance.now() > end) throw new Error('The figure did not hear clicks within {PATIENCE} ms.')"
    frame = "await new Promise(requestAnimationFrame)"
    figure.evaluate(
        f"async (it) => {{ const end = performance.now() + {PATIENCE}; while ({deaf}) {{ {late}; {frame}; }} }}"
    )
