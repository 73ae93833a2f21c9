"""Every page, found by glob: opened, painted, at both sizes and in both themes, by its link too, and accessible."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import OF_COLOURS, PATIENCE, ROOT, Problems, accessibility
from tests.support.looks import DESKTOP, LOOKS, SIZES, STREAMLITS_OWN, TWO, each_look
from tests.support.visitor import DEEP_LINK, open_page, painted

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


@dataclass(frozen=True)
class Visit:
    """How a page is reached, what shows that its main figure is drawn, and whether it has the shared text box."""

    address: str
    link: str  # its name in the sidebar
    figure: str  # selector of its main figure
    text: bool = True
    patience: int = PATIENCE  # ms; more where a model has to be made ready first


CHART = ".js-plotly-plot .main-svg"
LACKING = ".headlight-note"
VISITS = {
    "explore": Visit("/", "Explore", ""),
    "pictures": Visit("/pictures", "Pictures", ".picture[data-whole] .stage canvas", text=False),
    "compare": Visit("/compare", "Side by side", CHART),
    "bertviz_views": Visit("/bertviz", "BertViz", "iframe"),
    "lessons": Visit("/lessons", "Lessons", "[data-testid=stButton]", text=False),
    "classroom": Visit("/classroom", "A class", "[data-testid=stForm]", text=False),
    "tutorials": Visit("/tutorials", "Tutorials", ".headlight-note"),
    "step_by_step": Visit("/step_by_step", "Step by step", ".sheet canvas"),
    "whole_pass": Visit("/whole_pass", "The whole pass", ".stack .strip"),
    "by_hand": Visit("/by_hand", "By hand", ".sheet canvas", text=False),
    "positions": Visit("/positions", "Positions", ".matrices canvas"),
    "block": Visit("/block", "The block", ".drawing svg"),
    "why_attention": Visit("/why_attention", "Why attention", CHART),
    "tokens": Visit("/tokens", "Tokens", ".ladder .rung"),
    "vectors": Visit("/vectors", "Vectors", CHART),
    "find": Visit("/find", "Find", CHART),
    "measure": Visit("/measure", "Measure", CHART, text=False),
    "roles": Visit("/roles", "Roles", CHART),
    "cause": Visit("/cause", "Cause", CHART),
    "agreement": Visit("/agreement", "Agreement", ".matrices canvas"),
    "teach": Visit("/teach", "Teach", "[data-testid=stDataFrame] canvas", text=False),
    "masked_words": Visit("/masked_words", "Masked words", CHART),
    "next_sentence": Visit("/next_sentence", "Next sentence", CHART),
    "translate": Visit("/translate", "Translate", CHART),
    # Where the extra model is installed, it is unpacked by the first visit.
    "generate": Visit("/generate", "Generate", f"{CHART}, {LACKING}", patience=270_000),
}


def drawn(page: Page, name: str) -> None:
    """Wait until the page has drawn its main figure."""
    if name == "explore":
        painted(page)
    elif name == "bertviz_views":
        expect(page.frame_locator("iframe").locator("#vis svg, #vis canvas").first).to_be_visible(timeout=PATIENCE)
    else:
        expect(page.locator(VISITS[name].figure).first).to_be_visible(timeout=VISITS[name].patience)


def test_every_page_can_be_visited() -> None:
    assert set(PAGES) == set(VISITS), "a new page needs its line in VISITS"


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("viewport", [DESKTOP])
def test_every_page_is_drawn_and_accessible(page: Page, app_url: str, problems: Problems, name: str) -> None:
    """In both sizes and both themes, which a reader may change while the page stands."""
    problems.allow(DEEP_LINK)
    open_page(page, app_url, VISITS[name].address)
    found = {}
    folder = os.environ.get("HEADLIGHT_SCREENSHOTS")
    for size, theme in each_look(page, LOOKS, lambda: drawn(page, name)):
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator("[data-testid='stException']")).to_have_count(0)
        if folder:
            page.screenshot(path=Path(folder) / f"{name}-{SIZES[size]['width']}-{theme}.png")
        again = () if (size, theme) in TWO else OF_COLOURS  # the same page, in other colours
        found[size, theme] = accessibility(page, leave_out=STREAMLITS_OWN, only=again)
    assert found == {look: [] for look in LOOKS}


@pytest.mark.parametrize("names", [PAGES[at::3] for at in range(3)], ids=", ".join)
def test_every_page_keeps_the_view_of_the_last(page: Page, app_url: str, names: list[str]) -> None:
    """A reader goes from Explore to one after the other, and back to it."""
    open_page(page, app_url, text="One text for all pages.", layer=2, head=3)
    painted(page, layer=2, head=3)
    heading = page.get_by_role("heading", level=1)
    for name in names:
        if name == "explore":
            continue
        left = heading.inner_text()
        page.get_by_role("link", name=VISITS[name].link, exact=True).first.click()
        expect(heading).not_to_have_text(left)
        # What is left of the page before has charts too.
        expect(page.locator("[data-stale=true]")).to_have_count(0, timeout=VISITS[name].patience)
        drawn(page, name)
        expect(page).to_have_url(re.compile(rf"{VISITS[name].address}\?.*layer=2&head=3(&|$)"))
        if VISITS[name].text:
            expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("One text for all pages.")
    page.get_by_role("link", name="Explore").first.click()
    painted(page, layer=2, head=3)
