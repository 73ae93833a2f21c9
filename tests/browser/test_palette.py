"""The search for pages, settings and terms in a browser: keys, tabs of other pages, accessibility."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.accessibility import accessibility
from tests.support.atrest import click, rest
from tests.support.browser import PHONE
from tests.support.looks import STREAMLITS_OWN
from tests.support.visitor import open_page, painted
from ui.state.navigation import BY_VIEW


def search(page: Page, typed: str) -> None:
    """Open the search by its keys, type, and pick the first entry."""
    page.keyboard.press("Control+k")
    page.keyboard.type(typed)
    page.keyboard.press("Enter")


def test_a_page_and_a_setting_are_found_by_keys(page: Page, app_url: str) -> None:
    open_page(page, app_url, layer=2, head=3)
    painted(page)
    rest(page)
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name=re.compile("pages, settings"))
    expect(box).to_be_focused()
    assert accessibility(page, leave_out=STREAMLITS_OWN) == []
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    search(page, "special tok")
    expect(page).to_have_url(re.compile("special=0"))
    rest(page)
    search(page, "word vect")
    expect(page.get_by_role("heading", level=1)).to_have_text(BY_VIEW["vectors"].title)
    expect(page).to_have_url(re.compile("view=vectors.*layer=2&head=3"))


def test_a_lesson_and_the_projector_view_are_found_by_keys(page: Page, app_url: str) -> None:
    open_page(page, app_url)
    painted(page)
    rest(page)
    search(page, "three trails")
    expect(page).to_have_url(re.compile("lessons.*lesson=three_trails"))
    rest(page)
    search(page, "projector")
    leave = page.get_by_role("button", name="Leave the projector view (Esc)")
    expect(leave).to_be_focused()
    click(leave)
    expect(leave).to_have_count(0)


@pytest.mark.parametrize("viewport", [PHONE])
@pytest.mark.parametrize("colour_scheme", ["dark"])
def test_a_term_is_explained_on_a_phone(page: Page, app_url: str) -> None:
    open_page(page, app_url)
    painted(page)
    click(page.get_by_role("button", name=re.compile("Search")))
    page.keyboard.type("baseline")
    option = page.get_by_role("listbox", name="Results").get_by_role("option")
    expect(option).to_have_count(1)
    expect(option).to_contain_text(re.compile("minus"))
    assert accessibility(page, leave_out=STREAMLITS_OWN) == []
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("view=find"))
