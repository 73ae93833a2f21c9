"""The layout of each view at 1440 × 900: the controls above the fold, and the top of the first figure.

python -m tools.page_layout                 a table of all views
python -m tools.page_layout find measure    some views

The goals are at most 12 controls above the fold and the first figure within 400 pixels. Some elements do not count as
controls: the navigation, the bar above the page, tabs, the row of stages with Back and Next, word chips, help icons,
the grid of heads, and the toolbar or the menu of files of a figure. A group of options counts once. Words shaded by
attention are a figure.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.test_pages import LACKING, VISITS, drawn  # noqa: E402  (after the path is set)
from tests.support.atrest import rest  # noqa: E402
from tests.support.browser import chromium  # noqa: E402
from tests.support.running import running  # noqa: E402
from tests.support.visitor import address_of  # noqa: E402
from ui.state.navigation import BY_VIEW  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

MOST_CONTROLS, LOWEST_FIGURE = 12, 400
SIZE: ViewportSize = {"width": 1440, "height": 900}
# Return the names of the controls above the fold and the top of the first figure, through all shadow roots.
MEASURE = """() => {
    const all = function* (root) {
        for (const el of root.querySelectorAll("*")) {
            yield el;
            if (el.shadowRoot) yield* all(el.shadowRoot);
        }
    };
    const up = (el) => el.parentElement ?? el.getRootNode().host ?? null;
    const inside = (el, selector) => {
        for (let at = el; at; at = up(at)) if (at.matches(selector)) return true;
        return false;
    };
    const CONTROL = "button, a[href], input, select, textarea, summary, [role=slider], [role=radiogroup]";
    const NOT = ".st-key-top_bar, .st-key-view_tabs, .strip, .chips, [role=tablist], [data-testid=stElementToolbar], "
        + "[class*=st-key-stage], "
        + "label [data-testid=stTooltipIcon], .modebar-container, [data-testid=stHeaderActionElements], p, li, "
        + ".menu.files, .save, [class*=_download]";
    const PART = "[role=radiogroup] [role=radio], [role=radiogroup] input, [data-testid=stSelectbox] button, "
        + "[data-testid=stSlider] input, [data-testid=stNumberInput] button, [data-testid=stFileUploader] input";
    const main = document.querySelector("[data-testid=stMain]");
    const [names, tops] = [[], []];
    for (const el of all(main)) {
        const box = el.getBoundingClientRect();
        if (box.width < 2 || box.height < 2 || !el.checkVisibility({ visibilityProperty: true })) continue;
        if (el.matches(CONTROL) && !el.matches(PART) && box.top < innerHeight && !inside(el, NOT))
            names.push((el.ariaLabel || el.innerText || el.id || el.className || el.tagName).trim().slice(0, 30));
        if (el.matches("canvas, svg, iframe, img, .js-plotly-plot") && box.width >= 200 && box.height >= 100
            || el.matches(".chips") && [...el.querySelectorAll("*")].some((chip) => chip.style.backgroundColor))
            tops.push(box.top);
    }
    return [names, tops];
}"""


def measure(page: Page, view: str) -> tuple[list[str], int | None]:
    """Return the names of a view's controls above the fold, and the top edge of its first figure in pixels."""
    names, tops = page.evaluate(MEASURE)
    box = page.locator(VISITS[view].figure.replace(", " + LACKING, "")).first.bounding_box()
    tops += [box["y"]] if box else []
    return list(names), round(min(tops)) if tops else None


def main(arguments: list[str]) -> int:
    """Print the layout of the views as a table; return 1 if a view misses a goal."""
    from playwright.sync_api import sync_playwright

    if unknown := [view for view in arguments if view not in BY_VIEW]:
        print(
            f"Expected names of views; got {', '.join(unknown)}. The views are {', '.join(BY_VIEW)}.", file=sys.stderr
        )
        return 2
    missed = 0
    with running(Path(tempfile.mkdtemp()) / "app.log") as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        print(f"{'view':16}{'controls':>10}{'figure':>8}{'seconds':>9}")
        for view in arguments or BY_VIEW:
            page = browser.new_page(viewport=SIZE)
            came = perf_counter()
            page.goto(f"{app.url}{address_of(view)}")
            drawn(page, view)
            took = perf_counter() - came
            rest(page)
            controls, top = measure(page, view)
            missed += len(controls) > MOST_CONTROLS or (top or 0) > LOWEST_FIGURE
            print(f"{view:16}{len(controls):>10}{'none' if top is None else top:>8}{took:>9.1f}")
            if arguments:
                print("  " + ", ".join(controls))
            page.close()
        browser.close()
    print(f"{missed} views miss a goal ({MOST_CONTROLS} controls, first figure within {LOWEST_FIGURE} pixels)")
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
