"""Browser tests of lessons: answers by clicks in the view, steps by key, history, and the tour."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.accessibility import accessibility
from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems, new_window
from tests.support.looks import STREAMLITS_OWN
from tests.support.visitor import DEEP_LINK, open_page, painted, stands
from ui.show import tour

BUTTON = str(tour.BUTTON)


def test_the_selected_head_is_that_of_the_view_and_the_answer(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/lessons", lesson="it_and_animal", step=2)
    stands(page)
    painted(page, layer=0, head=0)
    rest(page)
    assert accessibility(page, leave_out=STREAMLITS_OWN) == []
    grid = page.get_by_role("application", name=re.compile("All heads"))
    grid.focus()
    press = "(grid, keys) => keys.forEach((key) => grid.dispatchEvent(new KeyboardEvent('keydown', { key })))"
    grid.evaluate(press, ["ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown"])
    painted(page, layer=3, head=1)
    click(page.get_by_role("button", name="street", exact=True).first)
    painted(page, layer=3, head=1)
    strongest = page.get_by_role("button", name="Largest weight above baseline from")
    expect(strongest).to_have_count(0)
    head = page.get_by_role("combobox", name="Head")
    expect(head).to_have_value("1", timeout=PATIENCE)
    for number in (2, 1):
        click(head)
        page.get_by_role("option", name=str(number), exact=True).click()
        painted(page, layer=3, head=number)
    click(page.get_by_role("button", name="Check"))
    expect(page.get_by_text("Right.", exact=True)).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("This is the head of the famous picture")).to_be_visible()
    expect(strongest).to_be_visible(timeout=PATIENCE)


def test_a_word_that_is_clicked_in_the_view_is_the_answer(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/lessons", lesson="attention", step=5)
    stands(page)
    painted(page, layer=3, head=1)
    expect(page.locator("details.links")).to_be_hidden()  # They list the answer.
    click(page.get_by_role("button", name="animal", exact=True).first)
    expect(page.get_by_role("combobox", name=re.compile("Your answer"))).to_have_value("2 · animal", timeout=PATIENCE)
    click(page.get_by_role("button", name="Check"))
    expect(page.get_by_text("Right.", exact=True)).to_be_visible(timeout=PATIENCE)
    expect(page.locator("details.links")).to_be_visible(timeout=PATIENCE)


def test_steps_go_on_by_key_and_back_undoes(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/lessons", lesson="order", step=0)
    stands(page)
    rest(page)
    page.keyboard.press("Alt+PageDown")
    expect(page.get_by_role("heading", name="Take the places away")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("step=1"))
    page.go_back()
    expect(page.get_by_role("heading", name="Who bites whom?")).to_be_visible(timeout=PATIENCE)


def test_each_step_opens_at_its_top(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    page.set_viewport_size({"width": 1440, "height": 900})
    open_page(page, app_url, "/lessons", lesson="it_and_animal", step=2)
    main = page.get_by_test_id("stMain")
    for step, way in ((3, "button"), (4, "Alt+PageDown")):
        rest(page)
        main.evaluate("main => main.scrollTo(0, main.scrollHeight)")
        assert main.evaluate("main => main.scrollTop") > 200
        if way == "button":
            page.locator(".st-key-lesson_end_next button").click()
        else:
            page.keyboard.press(way)
        page.wait_for_url(re.compile(f"step={step}"))
        rest(page)
        assert main.evaluate("main => main.scrollTop") == 0
        expect(main.get_by_role("heading", level=3).first).to_be_focused()
    page.go_back()
    page.wait_for_url(re.compile("step=3"))
    rest(page)
    assert main.evaluate("main => main.scrollTop") > 200


def test_a_typed_answer_outlasts_the_way_to_another_step(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/lessons", lesson="attention", step=9)
    stands(page)
    rest(page)
    field = page.locator(".st-key-lesson_attention_9_text textarea")
    for draft, leave in (("By key", "Alt+PageDown"), ("By button", "")):
        field.fill("")
        field.press_sequentially(draft)
        if leave:
            page.keyboard.press(leave)
        else:
            page.locator(".st-key-lesson_next button").click()
        expect(page.locator(".st-key-lesson_attention_10_choice")).to_be_visible(timeout=PATIENCE)
        click(page.locator(".st-key-lesson_back button"))
        expect(field).to_have_value(draft, timeout=PATIENCE)
        rest(page)
    field.fill("By link")
    page.get_by_test_id("stMain").get_by_role("link", name="Open Attention heads").click()  # at once, as by a tap
    expect(page).to_have_title(re.compile("^Attention heads"), timeout=PATIENCE)
    expect(page).not_to_have_url(re.compile("/lessons"))  # The address may follow the title.
    page.go_back()
    expect(field).to_have_value("By link", timeout=PATIENCE)


def test_enter_checks_an_answer_and_leaving_its_field_does_not(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/lessons", lesson="attention", step=1)
    stands(page)
    rest(page)
    field, right = page.locator(".st-key-lesson_attention_1_number input"), page.get_by_text("Right.", exact=True)
    field.fill("5")
    field.press("Tab")
    rest(page)
    expect(field).to_have_value("5")
    expect(right).to_have_count(0)
    unchecked = page.get_by_text("checked yet")
    expect(unchecked).to_be_visible()
    field.press("Enter")
    expect(right).to_be_visible(timeout=PATIENCE)
    expect(unchecked).to_have_count(0)
    field.fill("7")
    field.press("Enter")
    expect(page.get_by_text("Not right.", exact=True)).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize("touch", [False, True])
def test_a_touch_screen_shows_no_shortcuts(browser: Browser, app_url: str, touch: bool) -> None:
    with new_window(browser, has_touch=touch, is_mobile=touch, viewport={"width": 390, "height": 844}) as context:
        page = context.new_page()
        open_page(page, app_url, "/lessons", lesson="attention", step=1)
        expect(page.locator(".st-key-lesson_next kbd")).to_be_visible(visible=not touch, timeout=2 * PATIENCE)
        expect(page.locator(".st-key-lesson_next button")).to_be_visible(timeout=PATIENCE)


def test_back_returns_from_each_step_by_one_press(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/lessons", lesson="it_and_animal", step=2)
    stands(page)
    seen = []
    for step in (3, 4, 5):  # These steps show heads 5-11, 3-1 and none, on two texts.
        rest(page)
        seen.append(page.url)
        page.keyboard.press("Alt+PageDown")
        page.wait_for_url(re.compile(f"step={step}"))
    for address in reversed(seen):
        rest(page)
        page.go_back()
        rest(page)
        assert page.url == address


def test_back_returns_from_each_stop_of_the_tour(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, text="My own words.")
    painted(page)
    page.goto(f"{app_url}/lessons?text=My+own+words.")
    stands(page)
    click(page.get_by_role("button", name=re.compile("tour")).first)
    for stop in range(1, 6):
        expect(page.get_by_text(f"Stop {stop} of 6")).to_be_visible(timeout=PATIENCE)
        rest(page)
        page.keyboard.press("Alt+PageDown")
    expect(page.get_by_text("Stop 6 of 6")).to_be_visible(timeout=PATIENCE)
    for stop in range(5, 0, -1):
        rest(page)
        page.go_back()
        expect(page.get_by_text(f"Stop {stop} of 6")).to_be_visible(timeout=PATIENCE)
    rest(page)
    page.go_back()
    expect(page.get_by_text(re.compile(r"top \d of 6"))).to_have_count(0, timeout=PATIENCE)
    expect(page).to_have_url(re.compile(r"/lessons\?.*text=My"))


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_the_tour_leads_on_and_is_left(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url)
    click(page.get_by_role("button", name=BUTTON), 2 * PATIENCE)
    expect(page.get_by_role("status").filter(has_text="Stop 1 of 6")).to_be_visible(timeout=PATIENCE)
    # The click fails if something covers the button's centre.
    click(page.locator(".st-key-tour").get_by_role("button", name="Next"))
    expect(page.get_by_text("Stop 2 of 6")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("/compare"))
    click(page.get_by_role("button", name="Skip the rest"))
    expect(page.get_by_text("Stop 2 of 6")).to_have_count(0, timeout=PATIENCE)
    expect(page.get_by_role("button", name=BUTTON)).to_be_visible()


@pytest.mark.parametrize(
    "query",
    [
        {"lesson": "translation", "step": 1},
        {"lesson": "masked_words", "step": 2},
        {"lesson": "attention", "show": "teacher"},
        {"lesson": "own", "show": "write"},
    ],
    ids=lambda query: "-".join(map(str, query.values())),
)
def test_every_other_face_of_a_lesson_is_accessible(
    page: Page, app_url: str, problems: Problems, query: dict[str, object]
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/lessons", **query)
    stands(page)
    rest(page)
    assert accessibility(page, leave_out=STREAMLITS_OWN) == []


def test_a_projector_shows_no_link_to_the_key(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    for query in ({}, {"lesson": "attention", "step": 1}):
        open_page(page, app_url, "/lessons", **query)
        link = page.get_by_role("button", name="For the teacher").first
        expect(link).to_be_visible()
        rest(page)
        page.keyboard.press("p")
        expect(link).to_be_hidden()
        page.keyboard.press("Escape")
        expect(link).to_be_visible()
