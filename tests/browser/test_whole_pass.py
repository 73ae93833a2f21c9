"""Browser tests of the page of the whole forward pass: keyboard, zooming by clicks, and going back."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.support.atrest import PATIENCE, rest
from tests.support.browser import Problems
from tests.support.keyboard import tab_to
from tests.support.visitor import DEEP_LINK, open_page

CHOSEN = re.compile(r"^Row \d.*, column \d+")  # the note on the number that is open


def test_along_by_the_keyboard_closer_by_clicks_and_back(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/whole_pass", text="The cat sat.", stage=5, zoom="layer")
    note = page.locator(".headlight-note")
    expect(note.filter(has_text="Before the layers, embeddings: LayerNorm")).to_be_visible(timeout=PATIENCE)
    rest(page)
    page.keyboard.press("Alt+PageDown")
    expect(note.filter(has_text="Layer 0, attention, queries")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("stage=6"))
    rest(page)
    page.keyboard.press("Alt+PageUp")
    expect(note.filter(has_text="Before the layers, embeddings: LayerNorm")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("stage=5"))
    rest(page)
    chosen = page.get_by_role("tab", selected=True).and_(page.locator(".stack .part"))
    expect(chosen).to_have_attribute("tabindex", "0")
    chosen.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(note.filter(has_text=CHOSEN)).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("zoom=stage"))
    rest(page)
    page.go_back()
    expect(page).to_have_url(re.compile("zoom=layer"))
    expect(note.filter(has_text=CHOSEN)).to_have_count(0, timeout=PATIENCE)


def test_all_of_it_by_the_keyboard_alone(page: Page, app_url: str, problems: Problems) -> None:
    """Zoom in twice, choose a number, change it, undo the change, open a source, and toggle a fold."""
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/whole_pass", model="headlight-bert", text="The cat [MASK] on the mat.", stage=45)
    note = page.locator(".headlight-note")
    tab_to(page, page.locator(".stack .part.chosen"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("zoom=layer"))
    expect(note.filter(has_text="Layer 3, attention, output")).to_be_visible(timeout=PATIENCE)
    tab_to(page, page.locator(".stack .part.chosen"))
    page.keyboard.press("Enter")
    opened = note.filter(has_text=CHOSEN)
    expect(opened).to_be_visible(timeout=PATIENCE)
    before = opened.inner_text()
    tab_to(page, page.get_by_role("application"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("column="))
    expect(opened).not_to_have_text(before, timeout=PATIENCE)

    tab_to(page, page.get_by_role("radio", name="Nothing"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    to = page.get_by_role("textbox", name="New value", exact=True)
    tab_to(page, to)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("2,5")
    page.keyboard.press("Enter")
    expect(note.filter(has_text="1 values changed. Output at token 3")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("becomes=2"))
    tab_to(page, page.get_by_role("button", name="Undo change"))
    page.keyboard.press("Enter")
    expect(note.filter(has_text="values changed")).to_have_count(0, timeout=PATIENCE)

    tab_to(page, page.get_by_role("combobox", name="Open a factor"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(note.filter(has_text="Layer 3, attention, weighted values")).to_be_visible(timeout=PATIENCE)
    rest(page)
    page.keyboard.press("Alt+PageDown")
    expect(note.filter(has_text="Layer 3, attention, output")).to_be_visible(timeout=PATIENCE)
    fold = page.locator("summary").filter(has_text="How to read")
    section = page.locator("details").filter(has=fold)
    expect(section).not_to_have_attribute("open", "")
    tab_to(page, fold)
    page.keyboard.press("Enter")
    expect(section).to_have_attribute("open", "")
