"""The page Side by side in Chinese: nothing that it says itself is left in English."""

from __future__ import annotations

import pytest

from i18n import use_language
from tests.support.asking import asked
from tests.support.words import english
from tests.ui.pages.compare.test_links import EXHAUSTED

OF_THE_FIGURE = "blue: away from the second text's answer; brown: towards it"

STATES: list[dict[str, object]] = [
    {"layer": 3, "head": 1},
    {"other": EXHAUSTED, "focus": 12},
    {"other": EXHAUSTED, "focus": 10, "to": 12},
    {"text": "A cat.", "other": "Some dogs!"},
    {"differs": "text", "text": "A cat.", "other": ""},
    {"differs": "model", "beside": "headlight-en-fr"},
    {"differs": "edit", "edits": "a1-0"},
    {"show": "carry"},
    {"show": "carry", "text": "A cat sat.", "other": "A dog sat.", "watch": "vector", "lent": "h99-1"},
    {"show": "carry", "text": "A cat sat.", "other": "A cat sat.", "watch": "vector"},
    {"show": "carry", "text": "A cat.", "other": "Some dogs!"},
    {"show": "carry", "text": "A [MASK] sat.", "other": "A cat ran."},
    {"show": "carry", "text": "word " * 70, "other": "word " * 69 + "cat", "watch": "vector"},
    {"show": "carry", "text": "A cat sat.", "other": ""},
    {"show": "carry", "model": "headlight-en-fr", "text": "The cat sleeps.", "other": "The dog sleeps."},
    {"show": "set"},
    {"show": "set", "bring": "file"},
]
PAIRS = "a,b,kind\nA cat sat.,A dog sat.,{one}\nA cat sat.,A cat sits.,{other}\nOne.,Two three four.,change\n"


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES, ids=str)
def test_all_is_told(state: dict[str, object]) -> None:
    page = asked("compare", lang="zh", **state)
    assert english(page, "Headlight English to French", *map(str, state.values())) == []
    assert [title.value for title in page.title] == ["两次读取之间有什么变化？"]
    assert not page.exception


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), [("change", "control"), ("change", "change"), ("control", "control")])
def test_what_a_set_says_is_told(one: str, other: str) -> None:
    page = asked("compare", lang="zh", show="set", bring="file")
    content = PAIRS.format(one=one, other=other).encode()
    with use_language("zh"):  # AppTest names the options of the page's other controls itself
        page.file_uploader(key="compare_file").set_value(("pairs.csv", content, "text/csv")).run()
    assert english(page) == []
    assert not page.exception
