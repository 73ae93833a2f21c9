"""Browser tests of every view of every page: opened by link, drawn and accessible in all sizes and themes.

Each page's own tests open it by its address.
"""

from __future__ import annotations

import base64
import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.accessibility import OF_COLOURS, accessibility
from tests.support.apps import Scripts
from tests.support.atrest import PATIENCE, click, rest, visit
from tests.support.browser import Problems
from tests.support.looks import DESKTOP, LOOKS, SIZES, STREAMLITS_OWN, THEMED, TWO, Look, each_look
from tests.support.repository import ROOT
from tests.support.visitor import DEEP_LINK, box_of, go_to, open_page, painted, stands
from ui.state.navigation import BY_VIEW, CHART_VIEWS, title_of
from ui.state.navigation import PAGES as PAGES_OF_APP

FILES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
PAGES = sorted(BY_VIEW)


@dataclass(frozen=True)
class Visit:
    """The selector of a view's main figure, and the view's use of the shared text box."""

    figure: str  # CSS selector
    text: bool = True
    patience: int = PATIENCE  # Milliseconds; more if the page first unpacks a model.


CHART = ".js-plotly-plot .main-svg"
LACKING = ".headlight-note"
TEXT = "One text for all pages."
VISITS = {
    "explore": Visit(".sentence .arcs"),
    "pictures": Visit(".picture[data-whole] .stage canvas", text=False),
    "compare": Visit(f"{CHART}, {LACKING}"),  # Without a second text it asks for one.
    "similarity": Visit(f".matrices canvas, {LACKING}"),  # Without a second text it asks for one.
    "bertviz_views": Visit("iframe"),
    "lessons": Visit("[data-testid=stButton]", text=False),
    "classroom": Visit("[data-testid=stForm]", text=False),
    "step_by_step": Visit(".sheet canvas"),
    "whole_pass": Visit(".stack .strip"),
    "by_hand": Visit(".sheet canvas", text=False),
    "positions": Visit(".matrices canvas"),
    "block": Visit(".drawing svg"),
    "why_attention": Visit(CHART),
    "tokens": Visit(".ladder"),
    "vectors": Visit(CHART),
    "find": Visit(CHART),
    "break_head": Visit(".st-key-break_head_strip .chips"),
    "measure": Visit(CHART, text=False),
    "roles": Visit(CHART),
    "cause": Visit(CHART),
    "patching": Visit(f"{CHART}, {LACKING}"),  # Without a second text it asks for one.
    "agreement": Visit(".matrices canvas"),
    "head_atlas": Visit(CHART, text=False),
    "atlas_search": Visit(CHART, text=False),
    "atlas_compare": Visit(CHART, text=False),
    "atlas_build": Visit("[data-testid=stFileUploader]", text=False),
    "teach": Visit("[data-testid=stDataFrame] canvas", text=False),
    "masked_words": Visit(CHART),
    "next_sentence": Visit(CHART),
    "answers": Visit(CHART),
    "translate": Visit(CHART),
    # The first visit unpacks the extra model if it is installed.
    "generate": Visit(f"{CHART}, {LACKING}", patience=270_000),
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
    assert set(BY_VIEW) == set(VISITS), "a new view needs its line in VISITS"
    begins = {view for view, visit in VISITS.items() if CHART in visit.figure}
    assert begins == CHART_VIEWS, "the views with Visit(CHART) are the chart_views of navigation.py"
    assert {page.file for page in PAGES_OF_APP} == set(FILES), "a file in pages/ needs its line in navigation.py"


def goes_on(page: Page, name: str) -> None:
    """Click a page's link, and check that the view, and the text if the page has a text box, are kept."""
    heading = page.get_by_role("heading", level=1)
    go_to(page, name)
    expect(heading).to_have_text(BY_VIEW[name].title)
    if len(BY_VIEW[name].views) > 1:
        expect(page.get_by_role("radio", name=title_of(name), exact=True)).to_be_checked()
    # Stale elements of the previous page may include charts.
    expect(page.locator("[data-stale=true]")).to_have_count(0, timeout=VISITS[name].patience)
    drawn(page, name)
    expect(page).to_have_url(re.compile(rf"/{BY_VIEW[name].path}\?.*layer=2&head=3(&|$)"))
    if VISITS[name].text:
        expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(TEXT)


def faults(page: Page, name: str) -> dict[Look, list[str]]:
    """Return the accessibility faults of the page in each size and theme, changed while the page is open.

    The current theme of the browser comes first.
    """
    found: dict[Look, list[str]] = {}
    folder = os.environ.get("HEADLIGHT_SCREENSHOTS")
    around = LOOKS if page.evaluate(THEMED, "light") else LOOKS[::-1]
    for size, theme in each_look(page, around, lambda: drawn(page, name)):
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator("[data-testid='stException']")).to_have_count(0)
        if folder:
            page.screenshot(path=Path(folder) / f"{name}-{SIZES[size]['width']}-{theme}.png")
        again = () if (size, theme) in TWO else OF_COLOURS  # The other looks change only colours.
        found[size, theme] = accessibility(page, leave_out=STREAMLITS_OWN, only=again)
    return found


@pytest.mark.parametrize("names", [PAGES[at::5] for at in range(5)], ids=", ".join)
@pytest.mark.parametrize("viewport", [DESKTOP])
def test_every_page_keeps_the_view_of_the_last_is_drawn_and_accessible(
    page: Page, app_url: str, names: list[str]
) -> None:
    """The test goes from Explore through all other pages and back to Explore."""
    open_page(page, app_url, text=TEXT, layer=2, head=3)
    painted(page, layer=2, head=3)
    found: dict[tuple[str, str, str], list[str]] = {}
    for name in sorted(names, key=lambda name: name != "explore"):
        if name != "explore":  # Explore is already open.
            goes_on(page, name)
        found |= {(name, *look): told for look, told in faults(page, name).items()}
    goes_on(page, "explore")
    painted(page, layer=2, head=3)
    assert {place: told for place, told in found.items() if told} == {}
    assert len(found) == len(names) * len(LOOKS)


# Return a picture's most frequent brightness (0 is black, 255 is white) and its share of dark pixels.
BRIGHTNESS = """async (source) => {
    const image = new Image();
    image.src = "data:image/png;base64," + source;
    await image.decode();
    const [canvas, counts] = [new OffscreenCanvas(image.width, image.height), new Array(256).fill(0)];
    const ink = canvas.getContext("2d");
    ink.drawImage(image, 0, 0);
    const { data } = ink.getImageData(0, 0, image.width, image.height);
    for (let i = 0; i < data.length; i += 4)
        counts[Math.round(0.3 * data[i] + 0.59 * data[i + 1] + 0.11 * data[i + 2])]++;
    const dark = counts.slice(0, 100).reduce((sum, count) => sum + count, 0) / (data.length / 4);
    return [counts.indexOf(Math.max(...counts)), dark];
}"""
# When the page is laid out for printing, measure how far figures exceed the main column, in pixels.
PAPER = """() => matchMedia("print").addEventListener("change", ({ matches }) => {
    if (!matches) return;
    const roots = [...document.querySelectorAll("[data-testid=stMain] *")].map((el) => el.shadowRoot ?? el);
    const parts = roots.flatMap((root) => [...root.querySelectorAll(".main-svg, canvas")]);
    const main = document.querySelector("[data-testid=stMain]").getBoundingClientRect();
    window.outside = parts.map((part) => part.getBoundingClientRect().right - main.right);
    window.hidden = document.querySelector("[data-testid=stSidebar]").offsetWidth === 0;
})"""


# Parts of the main column and of dialogs with a dark ground, and controls that paper cannot use.
UNPRINTABLE = """() => {
    const shown = (selector) => [...document.querySelectorAll(selector)].filter((el) => el.checkVisibility());
    const drawn = ".hl, .js-plotly-plot, [role=progressbar], [data-testid=stCheckbox]";
    const dark = shown("[data-testid=stMain] *, [role=dialog], [role=dialog] *").filter((el) => {
        const [red, green, blue, alpha = 1] = getComputedStyle(el).backgroundColor.match(/[\\d.]+/g).map(Number);
        return !el.closest(drawn) && Math.max(red, green, blue) < 100 && alpha > 0;
    });
    const controls = shown("[data-testid=stButton], [data-testid=stDownloadButton], [data-testid=stPopover]");
    return [...dark, ...controls].map((el) => `${el.tagName} ${el.dataset.testid} ${el.textContent.slice(0, 40)}`);
}"""


@pytest.mark.slow
@pytest.mark.parametrize("colour_scheme", ["dark"])
@pytest.mark.parametrize("path", ["/", "/head_roles", "/tokens?view=vectors"])
def test_a_dark_page_is_printed_in_light_colours(page: Page, app_url: str, problems: Problems, path: str) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, path)
    stands(page)
    rest(page)
    page.evaluate(PAPER)
    page.pdf()
    assert page.evaluate("window.hidden")
    assert max(page.evaluate("window.outside")) <= 1
    page.emulate_media(media="print", color_scheme="dark")
    rest(page)
    assert page.evaluate(UNPRINTABLE) == []
    shown = [
        "[data-testid=stMain]",
        *([".js-plotly-plot", ".js-plotly-plot .gtitle"] if path != "/" else [".figure canvas"]),
        *([".heatmaplayer image"] if "vectors" in path else []),
    ]
    for selector in shown:
        source = base64.b64encode(page.locator(selector).first.screenshot()).decode()
        paper, dark = page.evaluate(BRIGHTNESS, source)
        assert paper > 200, selector
        assert 0.001 < dark < 0.5, selector


LAYERS = """
import streamlit as st

from ui.paths import ASSETS

st.html(ASSETS / "app.css")


@st.dialog("A dialog")
def ask():
    st.text_input("Why", "Because")
    st.button("Do it")


st.title("A page")
with st.popover("More"):
    st.text_input("Name", "Ann")
st.selectbox("Pick one", ["a", "b"])
if st.button("Ask"):
    ask()
"""


@pytest.mark.parametrize("colour_scheme", ["dark"])
def test_an_open_dialog_is_printed_and_menus_are_not(page: Page, scripts: Scripts) -> None:
    visit(page, scripts.page("layers", LAYERS))
    for opener, inside in (("More", page.get_by_label("Name")), ("Pick one", page.get_by_role("option").first)):
        page.get_by_role("combobox" if opener == "Pick one" else "button", name=opener).focus()
        page.keyboard.press("ArrowDown" if opener == "Pick one" else "Enter")  # The app's header may cover a click.
        expect(inside).to_be_visible()
        page.emulate_media(media="print", color_scheme="dark")
        expect(inside).to_be_hidden()
        page.emulate_media(media="screen", color_scheme="dark")
        page.keyboard.press("Escape")
    click(page.get_by_role("button", name="Ask"))
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    rest(page)
    page.emulate_media(media="print", color_scheme="dark")
    expect(dialog.get_by_role("textbox")).to_be_visible()
    assert page.evaluate(UNPRINTABLE) == []
    assert page.evaluate(BRIGHTNESS, base64.b64encode(dialog.screenshot()).decode())[0] > 200
    last, box = box_of(page.get_by_text("Pick one")), box_of(dialog)
    assert last["y"] + last["height"] <= box["y"], "the dialog covers no part of the page"
