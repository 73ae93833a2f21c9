"""Selections saved without a rerun: equal to a rerun's, and only for holders of the selection token."""

from __future__ import annotations

import gc
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from starlette.testclient import TestClient

from tests.support.asking import asked, notes
from tests.support.cases import loop_over
from tests.support.clicking import address, follow, keep, leave, picture
from ui.routes.selection_tokens import ADDRESS, LONGEST
from ui.state.selection_token import SelectionToken
from ui.state.view_state import ViewState

CLICKS: list[dict[str, Any]] = [
    {"layer": 1, "head": 2},
    {"layer": 4, "head": 7, "focus": 3, "target": None},
    {"scale": "linear", "by": "weight"},
    {"facing": "in", "focus": None, "target": 5},
    {"pinned": [[3, 1], [0, 2]]},
    {"tab": "lines", "order": "entropy"},
]
pytestmark = pytest.mark.usefixtures("written")


@pytest.mark.slow
@loop_over("patch", CLICKS)
def test_what_is_kept_is_what_a_run_would_show(
    clicks: TestClient, written: list[dict[str, str]], patch: dict[str, Any]
) -> None:
    page = asked("explore", text="The cat sat on the mat.")
    wanted = {**picture(page)["selection"], **patch}
    assert keep(clicks, page, **patch) == 204
    linked = asked("explore", **written[-1])  # The address gives another visitor the same view.
    assert picture(linked)["selection"] == wanted
    follow(page, written[-1])
    page.run()  # The session's next run has the same selection, too.
    assert picture(page)["selection"] == wanted
    assert address(page) == written[-1]


@pytest.mark.slow
def test_click_after_click_is_kept_and_another_page_has_the_last(clicks: TestClient) -> None:
    page = asked("explore")
    assert keep(clicks, page, layer=1, head=2) == keep(clicks, page, layer=5, head=11) == 204
    leave(page, "cause")
    assert {name: address(page)[name] for name in ("layer", "head")} == {"layer": "5", "head": "11"}
    leave(page, "explore")
    assert picture(page)["selection"]["layer"] == 5


def test_the_way_back_leads_to_the_head_before(clicks: TestClient, written: list[dict[str, str]]) -> None:
    page = asked("explore", layer=3, head=1)
    first = address(page)
    keep(clicks, page, layer=1, head=2)
    keep(clicks, page, layer=5, head=11)
    follow(page, written[0])
    assert picture(page.run())["selection"]["layer"] == 1
    follow(page, first)
    assert picture(page.run())["selection"]["layer"] == 3


def test_a_switch_of_the_sidebar_keeps_the_click_before_it(clicks: TestClient) -> None:
    page = asked("explore", layer=3, head=1)
    keep(clicks, page, layer=1, head=2)
    page.checkbox(key="switch_words").check().run()
    assert {**address(page)} | {"layer": "1", "head": "2", "words": "1"} == address(page)


def test_a_slip_ends_with_the_next_run(clicks: TestClient, written: list[dict[str, str]]) -> None:
    page = asked("explore")
    old = picture(page)
    page.run()
    said = {"slip": old["slip"]["token"], "selection": {**old["selection"], "layer": 1}}
    assert clicks.post(ADDRESS, json=said).status_code == 410
    assert written == []
    assert keep(clicks, page, layer=1) == 204


@pytest.mark.slow
def test_two_windows_do_not_mix(clicks: TestClient) -> None:
    one, other = asked("explore", layer=3, head=1), asked("explore", layer=3, head=1)
    assert picture(one)["slip"]["token"] != picture(other)["slip"]["token"]
    keep(clicks, one, layer=1, head=2)
    leave(other, "cause")
    assert address(other)["layer"] == "3"
    leave(one, "cause")
    assert address(one)["layer"] == "1"


def test_a_foreign_token_and_a_foreign_site_are_refused(clicks: TestClient, written: list[dict[str, str]]) -> None:
    page = asked("explore")
    said = {"slip": picture(page)["slip"]["token"], "selection": {**picture(page)["selection"], "layer": 1}}
    assert clicks.post(ADDRESS, json=said, headers={"Origin": "https://elsewhere.example"}).status_code == 403
    assert clicks.post(ADDRESS, json={**said, "slip": "0" * 22}).status_code == 410
    assert clicks.get(ADDRESS).status_code == 405
    assert written == []


@pytest.mark.slow
def test_a_slip_is_gone_with_its_session(clicks: TestClient) -> None:
    slip = SelectionToken("", None, lambda _now, _said: None, lambda _now: {}, {})  # type: ignore[arg-type]  # nothing is kept
    said = {"slip": slip.token, "selection": {}}
    assert clicks.post(ADDRESS, json=said).status_code == 409
    del slip
    gc.collect()
    assert clicks.post(ADDRESS, json=said).status_code == 410


@loop_over(
    "patch",
    [
        {"layer": 99}, {"head": -1}, {"layer": True}, {"layer": "1"}, {"focus": 1e3}, {"tab": "<b>"}, {"order": "none"},
        {"tab": ["lines"]}, {"pinned": [[99, 1]]}, {"pinned": "3-1"}, {"pinned": [[1]]}, {"pinned": [[1, 1]] * 9},
        {"more": 1},
    ],
)  # fmt: skip
def test_what_no_picture_says_is_left_to_a_run(
    clicks: TestClient, written: list[dict[str, str]], patch: dict[str, object]
) -> None:
    assert keep(clicks, asked("explore"), **patch) == 409
    assert written == []


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"slip": 3}', b"[" * 4000])
def test_a_question_that_is_none_is_answered(clicks: TestClient, body: bytes) -> None:
    assert clicks.post(ADDRESS, content=body).status_code == 400


def test_a_long_question_is_not_read(clicks: TestClient) -> None:
    def blocks() -> Iterator[bytes]:
        for _ in range(10):
            yield b" " * LONGEST

    assert clicks.post(ADDRESS, content=blocks()).status_code == 413


@pytest.mark.parametrize("query", [{"layer": 99, "head": 1}, {"scale": "nothing"}])
def test_where_something_said_goes_with_a_click_a_run_tells(query: dict[str, object]) -> None:
    page = asked("explore", **query)
    assert notes(page)
    assert not picture(page).get("slip")


def test_where_figures_follow_a_click_a_run_tells() -> None:
    page = asked("explore")
    page.session_state["measures"] = True
    assert not picture(page.run()).get("slip")


@pytest.mark.slow
def test_a_text_too_long_for_a_link_is_left_to_a_run() -> None:
    pick = random.Random(1).choice
    page = asked("explore")
    page.session_state["choice"] = ViewState(text="".join(pick("abcdefghij ") for _ in range(60_000)), cut=20)
    assert not picture(page.run()).get("slip")


def test_the_address_is_written_as_streamlit_writes_it(clicks: TestClient, written: list[dict[str, str]]) -> None:
    page = asked("explore", text="So & so = 100%?", lang="zh")
    keep(clicks, page, layer=1, head=2)
    assert dict(parse_qsl(urlencode(written[-1]))) == written[-1]
    assert written[-1] == {"text": "So & so = 100%?", "lang": "zh", "layer": "1", "head": "2"} | {
        name: value for name, value in written[-1].items() if name in ("focus", "to")
    }
