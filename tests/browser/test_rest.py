"""Browser tests of the idle mark: cleared by each event, restored after the answer, set as aria-busy."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.apps import Scripts
from tests.support.atrest import rest

SLOW = """
import time

import streamlit as st

st.title("Slow")
state = st.session_state
state.setdefault("n", 0)
state.setdefault("again", 0)

def count():
    state.n += 1
    state.again = 2

st.button("Count", on_click=count)
st.text(f"heard {state.n}")
st.button("Nothing")
st.slider("Weight", 0, 10, 5, key="weight")

@st.fragment
def part():
    if st.button("Part"):
        time.sleep(0.3)
        st.text("part drawn")

part()
time.sleep(0.3)
if state.again:
    state.again -= 1
    st.rerun()
st.text(f"counted {state.n} at {state.weight}")
"""
MARK = "document.documentElement.dataset.rest"
BUSY = "document.querySelector('[data-testid=stMain]').getAttribute('aria-busy')"
CLICKED = f"""(button) => {{
    const before = {MARK};
    let heard;
    button.addEventListener("click", () => {{ heard = {MARK}; }}, {{ once: true, capture: true }});
    button.click();
    return [before, heard, {MARK}, {BUSY}];
}}"""


@pytest.fixture(scope="module")
def url(scripts: Scripts) -> str:
    return scripts.page("slow", SLOW)


@pytest.fixture
def opened(page: Page, url: str) -> Page:
    page.goto(url)
    rest(page)
    return page


def test_a_page_rests_when_its_script_has_ended_a_click_ends_that_at_once_and_what_is_asked_twice_is_answered_twice(
    opened: Page,
) -> None:
    assert opened.get_by_text("counted 0 at 5").count() == 1
    assert opened.evaluate(f"[{MARK}, {BUSY}]") == ["true", "false"]
    opened.get_by_role("heading", name="Slow").click()
    rest(opened)
    expect(opened.get_by_text("counted 0 at 5")).to_be_visible()
    button = opened.get_by_role("button", name="Count")
    assert button.evaluate(CLICKED) == ["true", "false", "false", "true"]
    rest(opened)
    assert opened.get_by_text("counted 1 at 5").count() == 1, "two runs more than the click's own are waited for"
    for count in range(2, 5):
        button.click()
        opened.get_by_text(f"heard {count}").wait_for()  # Without this wait, Streamlit merges two clicks.
    rest(opened)
    assert opened.get_by_text("counted 4 at 5").count() == 1


def test_a_key_on_a_slider_a_part_that_runs_alone_and_one_that_says_it_is_busy_are_waited_for(opened: Page) -> None:
    opened.get_by_role("slider", name="Weight").press("ArrowRight")
    rest(opened)
    assert opened.get_by_text("counted 0 at 6").count() == 1
    opened.get_by_role("button", name="Part").click()
    rest(opened)
    assert opened.get_by_text("part drawn").count() == 1
    host = opened.locator(".st-key-rest").get_by_test_id("stBidiComponentIsolated")
    say = "(host, busy) => host.shadowRoot.querySelector('span').setAttribute('aria-busy', String(busy))"
    host.evaluate(say, True)
    opened.get_by_role("heading", name="Slow").click()
    frames = "async () => { for (let i = 0; i < 20; i++) await new Promise(requestAnimationFrame); return %s; }"
    assert opened.evaluate(frames % MARK) == "false"
    host.evaluate(say, False)
    rest(opened)
