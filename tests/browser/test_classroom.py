"""A class in two real browsers: a student follows, answers, goes an own way; a hand, a projector, an end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.atrest import PATIENCE, rest
from tests.support.browser import Problems
from tests.support.visitor import DEEP_LINK, open_page, painted


@pytest.fixture
def student(browser: Browser) -> Iterator[Page]:
    """Somebody else's browser."""
    with browser.new_context(locale="en-GB", viewport={"width": 390, "height": 844}) as context:
        context.set_default_timeout(PATIENCE)
        yield context.new_page()


def test_a_class_from_the_first_code_to_the_end(page: Page, student: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/classroom")
    page.get_by_role("button", name="Open a room").click()
    code = page.locator("[data-testid=stMetricValue]").inner_text().strip()
    expect(page.get_by_text("This app was started for this machine only")).to_be_visible()

    open_page(student, app_url, "/classroom", **{"class": code})
    student.get_by_role("textbox", name="Your name, if you like").fill("Anna")
    student.get_by_role("button", name="Join").click()
    expect(student.get_by_text("You are in, as Anna.")).to_be_visible()
    expect(page.get_by_text("1 student is here.")).to_be_visible()

    page.get_by_text("Students see what I see").click()
    page.get_by_role("link", name="Explore").first.click()
    painted(student)  # what the teacher opened came by itself
    expect(student.get_by_text("you follow your teacher’s view")).to_be_visible()

    expect(page.get_by_text("1 student is here.")).to_be_visible()  # on every page of the teacher's
    page.get_by_role("link", name="A class").first.click()
    page.get_by_role("textbox", name="Question").fill("Which word does “it” look at?")
    page.get_by_role("textbox", name="What is right").fill("animal")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(student.get_by_text("Which word does “it” look at?")).to_be_visible()  # on the page that it is asked about
    student.get_by_role("textbox", name="Your answer").fill("Animal")
    student.get_by_role("button", name="Answer", exact=True).click()
    expect(student.get_by_text("Your answer: Animal")).to_be_visible()
    expect(student.get_by_role("textbox", name="Your answer")).to_be_hidden()  # the question is folded
    student.get_by_text("I am lost").click()
    expect(page.get_by_text("1 is lost: Anna.")).to_be_visible()

    student.reload()  # who comes back is who they were
    expect(student.get_by_text("Your answer: Animal")).to_be_visible()
    tab = page.context.new_page()  # a new tab of the teacher's resumes the class
    open_page(tab, app_url, "/classroom")
    expect(tab.locator("[data-testid=stMetricValue]")).to_have_text(code)
    tab.close()
    page.get_by_role("button", name="Show the answers", exact=True).click()
    page.get_by_role("button", name="Show the answers to everybody").click()
    expect(student.get_by_text("1 of them says so. Yours: Animal.")).to_be_visible()

    page.get_by_role("button", name="Close the room").click()
    page.get_by_role("button", name="Close it now").click()
    expect(page.get_by_role("button", name="Open a room")).to_be_visible()
    expect(student.get_by_text(f"There is no room “{code}”")).to_be_visible()


def test_a_key_makes_the_page_fit_a_projector(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/by_hand")
    rest(page)
    sidebar = page.locator("[data-testid=stSidebar]")
    expect(sidebar).to_be_visible()
    page.keyboard.press("p")
    expect(sidebar).to_be_hidden()
    page.reload()
    rest(page)
    expect(sidebar).to_be_hidden()
    page.keyboard.press("p")
    expect(sidebar).to_be_visible()
