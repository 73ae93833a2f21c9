"""Browser tests of the By hand page: typed numbers, opened files, chosen pairs, and restoring links."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.atrest import PATIENCE, click, rest, visit
from tests.support.browser import PHONE, Problems
from tests.support.keyboard import tab_to
from tests.support.visitor import DEEP_LINK, box_of, file_of
from ui.pages.by_hand.as_csv import pack, read, unpack, write
from ui.pages.by_hand.example import Example, example_of, resize

EVEN = "“je” gives “ai” 29% of its attention"


@pytest.fixture
def opened(page: Page, app_url: str, problems: Problems) -> Page:
    problems.allow(DEEP_LINK)
    return visit(page, f"{app_url}/by_hand?preset=tutorial&stage=all")


def sheet(page: Page, name: str) -> Locator:
    return page.locator(f"[role=application][aria-label^='{name}, ']")


def type_number(page: Page, table: int, row: int, text: str) -> None:
    """Type ``text`` into the first cell of ``row`` in editor number ``table``; both count from 0."""
    rest(page)  # The editors are drawn late, and elements drawn after them move them.
    grid = page.get_by_test_id("stDataFrame").nth(table)
    grid.scroll_into_view_if_needed()
    rows = grid.locator("tbody [role='row']")
    expect(rows).to_have_count(4)
    box = box_of(grid.locator("canvas").first)
    page.mouse.dblclick(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * (row + 1.5) / 5)
    field = page.locator("#portal").get_by_role("textbox")
    field.fill(text)
    field.press("Enter")


def with_key(example: Example, number: float) -> Example:
    """Return a copy of the example with ``number`` as the first entry of W_K."""
    w_k = example.w_k.copy()
    w_k[0, 0] = number
    return replace(example, w_k=w_k)


def test_the_tutorial_s_example_is_shown_saved_worked_out_and_changed_and_another_comes_in_and_is_masked(
    opened: Page, tmp_path: Path
) -> None:
    expect(opened.get_by_text(EVEN)).to_be_visible()
    expect(opened.get_by_text("A softmax keeps the order of scores")).to_be_visible()
    for name in ("Printed", "True, d_k = 4", "True, d_k = 1", "X", "Q = X·W_Q", "Q·Kᵀ / √4", "e^s", "A = softmax"):
        expect(sheet(opened, name)).to_be_visible()
    for name in ("A·V·W_O", "X + O", "ReLU·W_2", "Y = LayerNorm", "Y·Eᵀ", "next word"):
        expect(sheet(opened, name)).to_be_visible()
    expect(sheet(opened, "masked")).to_have_count(0)
    it_goes_out_as_a_file(opened, tmp_path)
    a_clicked_cell_is_worked_out(opened)
    it_may_grow_and_shrink(opened)
    a_file_comes_in(opened, tmp_path)
    the_mask_hides_what_follows(opened)


def it_goes_out_as_a_file(opened: Page, folder: Path) -> None:
    click(opened.get_by_text("Files"))
    download = file_of(opened.get_by_role("button", name="Save as CSV"))
    saved = folder / "saved.csv"
    download.save_as(saved)
    assert read(saved.read_bytes()) == example_of("tutorial")


def a_clicked_cell_is_worked_out(opened: Page) -> None:
    weights = sheet(opened, "A = softmax")
    weights.focus()
    opened.keyboard.press("Enter")
    expect(opened.get_by_text("“french” to “french”: q·k = 0.80 × 0.10 + 0.50 × (−0.10)")).to_be_visible()
    expect(opened).to_have_url(re.compile("row=0.*column=0.*cell=shares-0-0"))
    expect(opened.get_by_text("A = softmax, “french” and “french”: 0.97 / ")).to_be_visible()
    sheet(opened, "Y·Eᵀ").focus()
    opened.keyboard.press("Enter")
    expect(opened.get_by_text("Y·Eᵀ, “french” and “I”: ")).to_be_visible()
    expect(opened.get_by_text("“french” to “french”: q·k")).to_be_visible()


def it_may_grow_and_shrink(opened: Page) -> None:
    rest(opened)
    opened.get_by_role("checkbox", name="Rest of the layer").uncheck(force=True)
    expect(opened.get_by_text("“I am like French” from this example. Here it is otherwise")).to_be_visible()
    expect(sheet(opened, "Y = LayerNorm")).to_have_count(0)
    click(opened.get_by_text("Sizes"))
    opened.get_by_label("Tokens", exact=True).fill("5")
    opened.get_by_label("Tokens", exact=True).press("Enter")
    expect(sheet(opened, "A = softmax")).to_have_attribute("aria-label", re.compile("5 by 5"))
    opened.get_by_label("Columns of W (h · d_k)", exact=True).fill("2")
    opened.get_by_label("Columns of W (h · d_k)", exact=True).press("Enter")
    expect(sheet(opened, "A·V")).to_have_attribute("aria-label", re.compile("5 by 2"))
    expect(sheet(opened, "Q·Kᵀ / √2")).to_be_visible()


def a_file_comes_in(opened: Page, folder: Path) -> None:
    rest(opened)
    other = folder / "other.csv"
    other.write_text(write(example_of("lookup")).replace("one", "<b>uno</b>"), encoding="utf-8")
    upload = opened.get_by_test_id("stFileUploader").filter(has_text="Open a file").locator("input")
    upload.set_input_files(other)
    expect(opened.get_by_text("“<b>uno</b>” gives “two” 100% of its attention")).to_be_visible()
    bad = folder / "bad.csv"
    bad.write_text("![](http://example.org/x.png),1\n")
    upload.set_input_files(bad)
    expect(opened.get_by_role("alert").filter(has_text="Line 1 has the matrix '![](http")).to_be_visible()
    expect(opened.get_by_text("“<b>uno</b>” gives “two” 100% of its attention")).to_be_visible()


def the_mask_hides_what_follows(opened: Page) -> None:
    rest(opened)
    opened.get_by_role("checkbox", name="Causal mask").check(force=True)
    masked = sheet(opened, "masked")
    expect(masked).to_be_visible()
    masked.focus()
    opened.keyboard.press("ArrowRight")
    expect(opened.locator(".sheet", has=masked).locator("[aria-live]")).to_have_text("<b>uno</b> · two: −∞")
    opened.keyboard.press("Enter")
    expect(opened.get_by_text("masked: −∞, softmax → 0.")).to_be_visible()
    expect(opened).to_have_url(re.compile("causal=1"))


def test_what_is_typed_is_read_as_meant_or_refused_and_changes_every_step_and_the_link_till_a_preset_begins_anew(
    opened: Page,
) -> None:
    expect(opened.get_by_text(EVEN)).to_be_visible()
    type_number(opened, 2, 0, "4e1")
    expect(opened.get_by_text("“french” gives itself 100% of its attention")).to_be_visible()
    type_number(opened, 2, 0, "5000000")
    said = opened.get_by_role("alert").filter(has_text="W_K, row 1, column 1: “5000000” is out of range")
    expect(said).to_be_visible()
    type_number(opened, 2, 0, "0,1")
    expect(said).to_have_count(0)
    expect(opened.get_by_text(EVEN)).to_be_visible()
    type_number(opened, 2, 0, "40")
    expect(opened.get_by_text("“french” gives itself 100% of its attention")).to_be_visible()
    expect(opened.get_by_text("A tutorial")).to_have_count(0)
    rest(opened)
    (numbers,) = parse_qs(urlsplit(opened.url).query)["numbers"]
    assert unpack(numbers) == with_key(example_of("tutorial"), 40), "a link brings it back"
    type_number(opened, 2, 2, "80")
    expect(opened.get_by_text("“french” gives “ai” 100% of its attention")).to_be_visible()
    click(opened.get_by_role("button", name="Start over"))
    expect(opened.get_by_text(EVEN)).to_be_visible()


def test_all_of_it_by_the_keyboard_alone(opened: Page) -> None:
    """Change a number, change a folded size, open a cell's sum, start over, and choose another example."""
    expect(opened.get_by_text(EVEN)).to_be_visible()
    keys = opened.keyboard
    tab_to(opened, opened.get_by_test_id("data-grid-canvas").nth(2))
    keys.press("ArrowRight")
    keys.press("4")
    field = opened.locator("#portal").get_by_role("textbox")
    # The first key opens the field, which takes the next key only after it has the focus.
    expect(field).to_have_value("4")
    expect(field).to_be_focused()
    keys.press("0")
    expect(field).to_have_value("40")
    rest(opened)  # The editor receives the last digit shortly after the field shows it.
    keys.press("Enter")
    expect(opened.get_by_text("“french” gives itself 100% of its attention")).to_be_visible(timeout=PATIENCE)
    expect(opened).to_have_url(re.compile("numbers="))
    tab_to(opened, opened.locator("summary").filter(has_text="Sizes"))
    keys.press("Enter")
    tab_to(opened, opened.get_by_label("Tokens", exact=True))
    keys.press("ArrowUp")
    keys.press("Enter")
    expect(sheet(opened, "A = softmax")).to_have_attribute("aria-label", re.compile("5 by 5"), timeout=PATIENCE)
    tab_to(opened, sheet(opened, "A = softmax"))
    keys.press("ArrowRight")
    keys.press("Enter")
    expect(opened.get_by_text("A = softmax, “french” and “je”: ")).to_be_visible(timeout=PATIENCE)
    tab_to(opened, opened.get_by_role("button", name="Start over"))
    keys.press("Enter")
    expect(opened.get_by_text(EVEN)).to_be_visible(timeout=PATIENCE)
    tab_to(opened, opened.get_by_role("combobox", name="Example"), "Shift+Tab")
    keys.type("Three words")
    keys.press("Enter")
    expect(opened.get_by_text("gives “two” 100% of its attention")).to_be_visible(timeout=PATIENCE)
    expect(opened).to_have_url(re.compile("preset=lookup"))
    expect(opened).not_to_have_url(re.compile("numbers="))


@pytest.mark.parametrize("viewport", [PHONE])
def test_the_largest_example_fits_on_a_phone(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    small = example_of("lookup")
    visit(page, f"{app_url}/by_hand?stage=all&heads=2&numbers={pack(resize(small, 8, 8, 8, 8, 8))}")
    for name in ("Q·Kᵀ / √4", "A = softmax", "Concat(heads)"):
        expect(sheet(page, name)).to_be_visible()
    rest(page)
    editor, steps = page.get_by_text("Change the numbers"), sheet(page, "Q = X·W_Q")
    assert box_of(editor)["y"] < box_of(steps)["y"], "the editor comes first"
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
