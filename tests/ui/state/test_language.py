"""The language of a session: of its link, else picked, else the browser's."""

from __future__ import annotations

from tests.support.asking import asked


def test_english_is_spoken_first() -> None:
    assert asked("by_hand").selectbox(key="picked_language").value == "en"


def test_a_link_says_which_language_and_it_stays() -> None:
    page = asked("by_hand", lang="zh")
    assert page.selectbox(key="picked_language").value == "zh"
    assert page.query_params["lang"] == "zh"
    page.switch_page("../../pages/tutorials.py").run()
    assert page.query_params["lang"] == "zh"


def test_what_is_picked_goes_into_the_address() -> None:
    page = asked("by_hand")
    assert "lang" not in page.query_params
    page.selectbox(key="picked_language").select("zh").run()
    assert page.query_params["lang"] == "zh"


def test_a_language_that_is_not_spoken_is_passed_over() -> None:
    page = asked("by_hand", lang="<b>xx</b>")
    assert page.selectbox(key="picked_language").value == "en"
    assert not page.exception
