"""Browser tests of the token strip, the matrices and the map of heads, on small pages of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from attention.codec import frame
from attention.mask import FloatArray
from attention.view import View
from tests.support.apps import Scripts
from tests.support.atrest import click, hears_clicks, rest
from tests.support.browser import PHONE
from tests.support.looks import ON_A_PHONE, accessible_and_fits
from tests.support.savedfiles import parts
from tests.support.traces import sentence_trace
from tests.support.visitor import box_of
from ui.routes.traces import grid
from ui.run.services import ViewOptions
from viz.components.explore import explore

SCRIPT = "text/javascript"
LONG = 8000
PAGE = """
import numpy as np
import streamlit as st

from ui.show.chart import CONFIG, theme
from viz.components.matrices import matrices
from viz.components.matrices.matrices import MatrixSpec
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip
from viz.figures import head_maps

WORDS = ("[CLS]", "<b>The</b>", "tor", "toise", "\\u202e", "slept")
state = st.session_state
state.setdefault("chip", 1)
state.setdefault("cell", None)

def keep_chip():
    state.chip = token_strip.picked_chip("words")

def keep_cell():
    state.cell = matrices.picked_cell("sheets")

st.title("Components")
marks = {state.chip: "chosen", 5: "masked"}
chips = [
    TokenChip(word, shade=i / 5, mark=marks.get(i, ""), glued=i == 3, special=i == 0, title=f"0.{i}")
    for i, word in enumerate(WORDS)
]
token_strip.mount(chips, "words", title="Words of the text", on_pick=keep_chip)
still = [TokenChip(w, shade=-0.5, label="0.50") for w in WORDS]
token_strip.mount(still, "still", title="Only to be read", diverging=True)
token_strip.mount([TokenChip(w) for w in ("הכלב", "רץ", "מהר")], "rtl", title="Right to left", on_pick=lambda: None)
long = [TokenChip(f"w{i}", mark="chosen" if i == 4000 else "") for i in range(LONG)]
token_strip.mount(long, "long", title="A long text", on_pick=lambda: None)
values = np.array([[0.25, -1.5, 2.0], [-np.inf, 0.0, 1 / 3]])
large = np.linspace(-1, 1, 512 * 384).reshape(512, 384)
matrices.mount([MatrixSpec("Q", values, ("je", "suis")), MatrixSpec("W", large)], "sheets", on_pick=keep_cell,
               about=[("model", "tiny"), ("text", "=je, suis")])
figure = head_maps.head_map(values, theme(), "Heads", "bits")
event = st.plotly_chart(figure, theme=None, config=CONFIG, key="map", on_select="rerun")
st.text(f"chip {state.chip}, cell {state.cell}, head {head_maps.picked_head(event)}")
""".replace("LONG", str(LONG))


@pytest.fixture(scope="module")
def url(scripts: Scripts) -> str:
    return scripts.page("components", PAGE)


@pytest.fixture
def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.get_by_text("chip 1, cell None, head None")).to_be_visible()
    expect(page.get_by_role("application")).to_have_count(2)
    return page


def words(page: Page) -> Locator:
    return page.get_by_role("group", name="Words of the text").get_by_role("button")


def test_strips_matrices_and_the_map_of_heads_are_read_walked_picked_and_saved_and_all_is_accessible(
    opened: Page,
) -> None:
    long_strips_show_a_window(opened)
    strips_say_what_they_are_and_are_walked(opened)
    a_chip_is_picked(opened)
    a_matrix_is_saved_with_all_its_digits(opened)
    a_cell_is_read_aloud_and_picked(opened)
    a_click_on_the_map_picks_a_head(opened)

    def drawn() -> None:
        for sheet in opened.locator(".sheet").all():
            assert box_of(sheet)["width"] <= PHONE["width"]

    accessible_and_fits(opened, ON_A_PHONE, drawn)


def long_strips_show_a_window(opened: Page) -> None:
    chips = opened.get_by_role("group", name="A long text").get_by_role("button")
    expect(chips).to_have_count(200)
    expect(opened.get_by_role("button", name="w4000, chosen")).to_be_in_viewport(ratio=0.5)
    expect(opened.get_by_text("3901–4100 of 8,000")).to_be_visible()
    click(opened.get_by_role("button", name="Later tokens"))
    expect(opened.get_by_text("4101–4300 of 8,000")).to_be_visible()
    chips.first.focus()
    opened.keyboard.press("End")
    expect(opened.get_by_role("button", name="w7999", exact=True)).to_be_focused()


def strips_say_what_they_are_and_are_walked(opened: Page) -> None:
    expect(opened.get_by_role("button", name="slept, 0.5, masked")).to_be_visible()
    words(opened).nth(3).hover()
    expect(opened.get_by_role("tooltip").first).to_have_text("toise0.3")
    opened.mouse.move(0, 0)
    # A strip without ``on_pick`` is a list without buttons.
    still = opened.get_by_role("list", name="Only to be read")
    expect(still.get_by_role("listitem")).to_have_count(6)
    expect(still.get_by_role("button")).to_have_count(0)
    # In right-to-left text the left arrow moves to the next token.
    chips = opened.get_by_role("group", name="Right to left").get_by_role("button")
    first, second = chips.nth(0), chips.nth(1)
    assert box_of(first)["x"] > box_of(second)["x"]
    first.focus()
    opened.keyboard.press("ArrowLeft")
    expect(second).to_be_focused()


def a_chip_is_picked(opened: Page) -> None:
    expect(words(opened)).to_have_text(["[CLS]", "<b>The</b>", "tor", "toise", "⟨U+202E⟩", "slept"])
    click(words(opened).nth(2))
    expect(opened.get_by_text("chip 2,")).to_be_visible()
    expect(words(opened).nth(2)).to_have_attribute("aria-pressed", "true")
    expect(words(opened).nth(1)).to_have_attribute("aria-pressed", "false")
    words(opened).nth(1).focus()
    opened.keyboard.press("End")
    opened.keyboard.press("ArrowLeft")
    opened.keyboard.press("Enter")
    expect(opened.get_by_text("chip 4,")).to_be_visible()
    expect(words(opened).nth(4)).to_be_focused()
    opened.keyboard.press("Home")
    opened.keyboard.press("Space")
    expect(opened.get_by_text("chip 0,")).to_be_visible()


def a_matrix_is_saved_with_all_its_digits(opened: Page) -> None:
    click(opened.get_by_label("Save Q"))
    with opened.expect_download() as download:
        opened.get_by_role("button", name="Save as CSV").click()
    table, meta = parts(Path(download.value.path()).read_bytes())
    lines = table.decode("utf-8-sig").split("\r\n")
    assert (meta["model"], meta["text"]) == ("tiny", "=je, suis")
    assert lines == ["Q,0,1,2", "je,0.25,-1.5,2", "suis,-Infinity,0,0.33333334", ""]
    click(opened.get_by_label("Save W"))
    with opened.expect_download() as download:
        opened.get_by_role("button", name="Save as PNG").click()
    assert Path(download.value.path()).read_bytes()[:4] == b"\x89PNG"
    click(opened.get_by_label("Save W"))
    with opened.expect_download() as download:
        opened.get_by_role("button", name="Save as SVG").click()
    assert download.value.suggested_filename == "headlight-W.svg"
    drawing = Path(download.value.path()).read_text(encoding="utf-8")
    assert drawing.startswith("<svg ")
    assert ">W</text>" in drawing


def a_cell_is_read_aloud_and_picked(opened: Page) -> None:
    pad = opened.get_by_role("application", name="Q, 2 by 3")
    pad.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        opened.keyboard.press(key)
    expect(opened.locator(".sheet").first.locator("[aria-live]")).to_have_text("suis · column 2: 0.33333334")
    opened.keyboard.press("ArrowUp")
    opened.keyboard.press("Enter")
    expect(opened.get_by_text("cell (0, 0, 2)")).to_be_visible()


def a_click_on_the_map_picks_a_head(opened: Page) -> None:
    chart = opened.locator(".js-plotly-plot")
    rest(opened)
    chart.scroll_into_view_if_needed()
    cells = chart.locator(".heatmaplayer image")
    expect(cells).to_be_visible()
    hears_clicks(chart)
    box = box_of(cells)
    opened.mouse.click(box["x"] + box["width"] * 1.5 / 3, box["y"] + box["height"] * 0.5 / 2)
    expect(opened.get_by_text("head (0, 1)")).to_be_visible()


TWICE = """
from functools import partial

import streamlit as st

from tests.support.traces import sentence_trace
from attention.measures import summarize_heads
from attention.view import View
from viz.components.explore import explore

view = View(sentence_trace())
FIRST = {"layer": 0, "head": 0, "focus": 3, "target": None, "tab": "matrix", "order": "layer", "scale": "sqrt"}
MORE = {"facing": "out", "upto": "fit", "filter": "all", "by": "excess", "pinned": []}
data = explore.payload(view, summarize_heads(view, 48), {**FIRST, **MORE}, "", "")

def keep(key):
    st.session_state[f"{key} kept"] = dict(st.session_state[key].selection)

st.title("Twice")
for key in ("one", "two"):
    chosen = st.session_state.get(f"{key} kept", {})
    st.text(f"{key}: layer {chosen.get('layer', 0)}, tab {chosen.get('tab', 'matrix')}")
    shown = {**data, "base": f"/maps/{key}", "selection": {**data["selection"], **chosen}}
    explore.mount(shown, key, partial(keep, key), lambda: None)
"""


@pytest.fixture(scope="module")
def twice(scripts: Scripts) -> str:
    return scripts.page("twice", TWICE)


@pytest.fixture
def two(page: Page, twice: str) -> Page:
    """Open a page with two microscopes, and answer their data requests as the app's routes would."""
    view = View(sentence_trace())

    def answer(route: Route) -> None:
        address = urlsplit(route.request.url)
        asked = {name: int(value) for name, value in parse_qsl(address.query)}
        kind = address.path.rsplit("/", 1)[-1]
        if kind == "grid":
            route.fulfill(body=grid(view.trace, ViewOptions(), {}))
            return
        values: dict[str, Callable[[], tuple[FloatArray, str]]] = {
            "rows": lambda: (view.rows(asked["query"]), "float16"),
            "columns": lambda: (view.columns(asked["key"]), "float16"),
            "tile": lambda: (view.weights(asked["layer"], asked["head"]), "float16"),
        }
        route.fulfill(body=frame({}, {kind: values[kind]()}))

    page.route("**/maps/**", answer)
    page.route(f"**{explore.address('en')}", lambda route: route.fulfill(body=explore.script(), content_type=SCRIPT))
    page.goto(twice)
    expect(page.locator("[data-painted]")).to_have_count(2)
    return page


def painted_by(page: Page) -> list[str | None]:
    return [place.get_attribute("data-painted") for place in page.locator("[data-painted]").all()]


def test_two_microscopes_on_one_page_know_nothing_of_each_other(two: Page) -> None:
    before = painted_by(two)
    assert before == ["/maps/one|0|0|3|matrix", "/maps/two|0|0|3|matrix"]
    click(two.get_by_role("button", name="Next head").nth(1))
    expect(two.locator("[data-painted]").nth(1)).to_have_attribute("data-painted", "/maps/two|0|1|3|matrix")
    click(two.get_by_role("tab", name="Lines").nth(1))
    expect(two.locator("[data-painted]").nth(1)).to_have_attribute("data-painted", "/maps/two|0|1|3|lines")
    expect(two.get_by_text("two: layer 0, tab lines")).to_be_visible()
    expect(two.get_by_text("one: layer 0, tab matrix")).to_be_visible()
    click(two.get_by_role("group", name="Tokens of the text").nth(1).get_by_role("button", name="play"))
    expect(two.locator("[data-painted]").nth(1)).to_have_attribute("data-painted", "/maps/two|0|1|1|lines")
    assert painted_by(two)[0] == before[0]
    # The ids must differ, and each panel must belong to its own microscope.
    ids = two.get_by_role("tab").evaluate_all("tabs => tabs.map((tab) => tab.id)")
    panels = two.get_by_role("tab").evaluate_all("tabs => tabs.map((tab) => tab.getAttribute('aria-controls'))")
    assert len(set(ids)) == 4
    assert len(set(panels)) == 2
    owned = "panels => panels.map((panel) => panel.getRootNode().getElementById(panel.id) === panel)"
    assert two.get_by_role("tabpanel").evaluate_all(owned) == [True, True]
