"""The Agreement page speaks Chinese, whatever is asked of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.task_heads import TAG
from tests.support.asking import allowed, asked
from tests.support.tinylabels import save
from tests.support.words import english

TEXT = "the animal was a cat"


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        {"text": TEXT, "focus": 3, "itself": 1},
        {"text": "Hi", "special": 0},
        {"text": "word " * 140},
        {"text": TEXT, "explain": "label"},
        {"text": TEXT, "model": "headlight-en-fr"},
    ],
)
def test_nothing_of_it_is_left_in_english(query: dict[str, object]) -> None:
    page = asked("agreement", lang="zh", **query)
    assert not page.exception
    assert page.title[0].value == "各种解释彼此一致吗？"
    assert english(page, *map(str, query.values())) == []


@pytest.mark.slow
def test_a_label_is_explained_in_chinese(tmp_path: Path) -> None:
    text, words = save(tmp_path / "text"), save(tmp_path / "words", head=TAG)
    with allowed(tmp_path):
        for model, explain in ((text, "label"), (words, "tag")):
            page = asked("agreement", lang="zh", model=model, text=TEXT, explain=explain, focus=3)
            assert not page.exception
            assert english(page, TEXT) == []
