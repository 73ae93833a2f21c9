"""Tests of the browser fixtures, which must notice errors, on a small Streamlit app."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.support.accessibility import accessibility
from tests.support.atrest import visit
from tests.support.browser import PHONE, Problems
from tests.support.running import App, faults, one_script, running

SMALL = """
import streamlit as st

st.title("Small")
st.session_state.setdefault("n", 0)
if st.button("Count"):
    st.session_state.n += 1
st.text(f"counted {st.session_state.n}")
if "fail" in st.query_params:
    raise RuntimeError("on purpose")
"""

PICTURE = """address => new Promise(done => {
    const picture = new Image();
    picture.onload = picture.onerror = event => done(event.type);
    picture.src = address;
})"""
BAD_IN_SHADOW = """() => {
    const host = document.createElement("div");
    document.body.append(host);
    host.attachShadow({ mode: "open" }).innerHTML = "<button id='nameless'></button>";
}"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with one_script(tmp_path_factory.mktemp("small"), SMALL) as started:
        yield started


def test_a_page_without_problems_passes(page: Page, small: App, problems: Problems) -> None:
    visit(page, small.url)
    page.get_by_role("button", name="Count").click()
    page.get_by_text("counted 1").wait_for()
    assert problems.noticed == []
    assert page.evaluate("matchMedia('(prefers-color-scheme: light)').matches")


@pytest.mark.parametrize("viewport", [PHONE])
@pytest.mark.parametrize("colour_scheme", ["dark"])
def test_size_and_colours_can_be_chosen(page: Page) -> None:
    assert page.evaluate("innerWidth") == PHONE["width"]
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")


@pytest.mark.parametrize("address", ["http://example.org/a.png", "http://198.51.100.7/a.png"])
def test_a_request_to_another_machine_fails_and_is_noticed(
    page: Page, small: App, problems: Problems, address: str
) -> None:
    visit(page, small.url)
    assert page.evaluate(PICTURE, address) == "error"
    assert f"request to another machine: {address}" in problems.left()
    problems.allow("request to another machine|ERR_NAME_NOT_RESOLVED")


def test_errors_in_the_page_are_noticed(page: Page, problems: Problems) -> None:
    page.evaluate("() => console.error('so it said')")
    with page.expect_event("pageerror"):
        page.evaluate("() => { setTimeout(() => { throw new Error('so it went') }) }")
    assert len(problems.left()) == 2
    problems.allow("so it said")
    assert problems.left() == ["error in the page: so it went"]
    problems.allow("so it went")


def test_problems_fail_unless_allowed() -> None:
    problems = Problems(["console: 404 (/a)"])
    assert problems.left()
    problems.allow("404")
    assert problems.left() == []


def test_a_file_looked_for_after_the_page_was_drawn_again_is_no_problem() -> None:
    missing = "console: Failed to load resource: the server responded with a status of 404 (Not Found) (http://a:1/{})"
    too_late = [
        missing.format("media/0a1b.csv"),
        "console: Client Error: Download Button source error - 404 (http://a)",
    ]
    others = [missing.format("component/a.js"), "console: Client Error: Image source error - 404 (http://a)"]
    assert Problems(too_late + others).left() == others


def test_accessibility_faults_are_found_in_shadow_trees_too(page: Page, small: App) -> None:
    visit(page, small.url)
    before = accessibility(page)
    page.evaluate(BAD_IN_SHADOW)
    (fault,) = set(accessibility(page)) - set(before)
    assert fault.startswith("button-name (critical)")
    assert accessibility(page, rules_off=["button-name"]) == before


def test_a_traceback_in_the_log_is_a_fault(page: Page, small: App) -> None:
    visit(page, f"{small.url}/?fail=1")
    page.get_by_test_id("stException").wait_for()
    assert len(faults(small.log.read_text())) == 1
    assert faults("socket.connect to 'x.org' was refused: the tests stay on this machine.")


def test_a_connection_closed_while_it_is_made_is_no_fault_and_hides_none() -> None:
    first = "Traceback (most recent call last):\n  File a\n"
    begun, name = f"Exception in ASGI application\n{first}", "starlette.websockets.WebSocketDisconnected"
    gone = f"{begun}{name}: WebSocket is not connected.\n\n{first}"
    gone += f'{name}: Cannot call "send" once a close message has been sent.\n'
    assert faults(gone) == []
    assert len(faults(f"{begun}ValueError: 3\n{gone}")) == 1
    assert len(faults(f"{gone}{begun}ValueError: 3\n")) == 1


def test_an_app_that_does_not_start_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError, match="not exist"),
        running(tmp_path / "log", main="none.py", folder=tmp_path),
    ):
        pass
