"""Browser tests of the Tutorials page: a theme followed by keyboard, and accessibility of the themes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.atrest import PATIENCE, rest
from tests.support.browser import Problems
from tests.support.looks import accessible_and_fits
from tests.support.visitor import DEEP_LINK, open_page, stands, text_box
from ui.pages.tutorials.options import THEMES
from ui.state.navigation import BY_VIEW


@pytest.fixture(autouse=True)
def deep_links(problems: Problems) -> None:
    problems.allow(DEEP_LINK)


def test_a_theme_is_followed_by_the_keyboard(page: Page, app_url: str) -> None:
    open_page(page, app_url, "/tutorials", text="My own text is here.")
    stands(page)
    page.get_by_role("radio", name=THEMES["attention"]).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.get_by_role("heading", name="6. Dropout, on and off")).to_be_visible(timeout=PATIENCE)
    rest(page)
    slider = page.get_by_role("slider", name="Dropped, in percent")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.get_by_text(re.compile("8 passes give the same number 8 times"))).to_be_visible(timeout=PATIENCE)
    rest(page)
    address = page.url
    link = page.get_by_role("link", name="The same blank, nothing dropped")
    link.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(BY_VIEW["masked_words"].title)
    stands(page)
    expect(text_box(page)).to_have_value("My own text is here.")
    page.go_back()
    expect(page.get_by_role("heading", name="6. Dropout, on and off")).to_be_visible(timeout=PATIENCE)
    assert page.url == address


def test_every_theme_can_be_read_in_every_look(page: Page, app_url: str) -> None:
    open_page(page, app_url, "/tutorials", theme="bert", text="The lamp went out.", pair="We looked for a candle.")
    stands(page)
    for theme in ("bert", "finetuning"):
        page.get_by_role("radio", name=THEMES[theme]).click()
        rest(page)
        accessible_and_fits(page)
