"""The page in Chinese: no English sentence is left on it, whatever it shows or refuses."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, notes
from tests.support.words import english
from ui.state.examples import EXAMPLES

TEXTS = [text for example in EXAMPLES for text in (example["text"], example.get("pair", "")) if text]
STATES = {
    "at first": {},
    "as words, counted from 1, without special tokens": {"words": 1, "special": 0, "count": 1},
    "a link that asks for what is not there": {"layer": 99, "head": 3, "focus": 400, "pins": "x", "count": "y"},
    "the beginning only": {"cut": 5},
    "a text of another language": {"text": "猫坐在垫子上。"},
    "a saved trace that is gone": {"opened": "file-x"},
    "no text": {"text": " "},
    "special tokens only": {"text": "[SEP]", "special": 0},
}


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_no_english_is_left(state: dict[str, object]) -> None:
    page = asked("explore", lang="zh", **state)
    assert not page.exception
    assert page.title[0].value == "哪些头关注哪里？"
    assert english(page, *TEXTS, "it was too tired | too wide") == []


@pytest.mark.slow
def test_its_files_are_in_the_language_of_the_page() -> None:
    page = asked("explore", lang="zh")
    assert page.get("link_button")[0].proto.url.endswith("&lang=zh")
    assert not asked("explore").get("link_button")[0].proto.url.endswith("&lang=en")


@pytest.mark.slow
def test_what_a_link_got_wrong_is_said_again_in_the_language_that_is_picked() -> None:
    page = asked("explore", pins="x")
    (said,) = [note for note in notes(page) if "pins" in note]
    page.selectbox(key="picked_language").select("zh").run()
    (again,) = [note for note in notes(page) if "pins" in note]
    assert said.startswith("The link's")
    assert again.startswith("链接中的")
