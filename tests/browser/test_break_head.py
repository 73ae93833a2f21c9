"""Browser tests of the view Break the head: lines follow typing, clicks choose words, and a class has a board."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems, new_window
from tests.support.visitor import DEEP_LINK, open_class, open_page, text_box

BERT = "headlight-bert"
SENTENCE = "The dog chased the cat because it was scared."


@pytest.fixture
def student(browser: Browser) -> Iterator[Page]:
    """Yield a page in a separate browser context."""
    with new_window(browser, viewport={"width": 390, "height": 844}) as context:
        context.set_default_timeout(PATIENCE)
        yield context.new_page()


def test_lines_follow_the_typing_and_clicks_choose_the_words(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/", view="break_head", model=BERT, text=SENTENCE, layer=1, head=3)
    strip = page.locator(".chips")
    expect(strip.get_by_role("button", name=re.compile("^it, "))).to_have_attribute("aria-pressed", "true")
    chosen = page.locator(".arcs path.arc.chosen.tip")
    expect(chosen).to_have_count(0)  # The right noun is not known.
    click(page.locator(".st-key-break_head_right").get_by_role("radio", name="dog", exact=True))
    expect(chosen).to_have_count(1)
    expect(page).to_have_url(re.compile("right=dog"))
    first = page.locator(".arcs").inner_html()
    text_box(page).fill("The dog chased the bird because it was scared.")
    expect(strip.get_by_role("button", name=re.compile("^bird, "))).to_be_visible()
    expect(chosen).to_have_count(0)  # In another text, another noun may be right.
    assert page.locator(".arcs").inner_html() != first
    text_box(page).press("Enter")
    click(page.get_by_role("radio", name="Right noun", exact=True))
    click(strip.get_by_role("button", name=re.compile("^bird, ")))
    expect(page).to_have_url(re.compile("right=bird"))
    expect(strip.get_by_role("button", name=re.compile("^bird, Right noun"))).to_be_visible()
    page.reload()
    expect(strip.get_by_role("button", name=re.compile("^bird, Right noun"))).to_be_visible()


def test_a_card_of_a_student_is_on_the_board(page: Page, student: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    code = open_class(page, app_url)
    open_page(student, app_url, "/classroom", **{"class": code})
    click(student.get_by_role("button", name="Join"))
    rest(student)
    # One of the two choices of the right noun fools the head.
    for right, other in (("dog", "cat"), ("cat", "dog")):
        query = {"model": BERT, "text": SENTENCE, "layer": 3, "head": 1, "right": right, "other": other, "class": code}
        open_page(student, app_url, "/", view="break_head", **query)
        expect(student.locator(".arcs path.arc.chosen.tip")).to_have_count(1)
        rest(student)
        if student.get_by_role("button", name="Put on the board").count():
            break
    click(student.get_by_role("button", name="Put on the board"))
    open_page(page, app_url, "/", view="break_head", model=BERT)
    card = page.locator("[class*=st-key-board_1]").first
    expect(card).to_contain_text(SENTENCE)
    link = card.get_by_role("link", name="Open")
    expect(link).to_have_attribute("href", re.compile("layer=3"))
    click(page.get_by_role("button", name="Remove"))
    expect(page.locator("[class*=st-key-board_1]")).to_have_count(0)
