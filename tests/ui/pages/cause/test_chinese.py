"""The Cause page speaks Chinese, whatever is asked of it."""

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
        {"edits": "a3-1", "curve": 1, "steps": 2},
        {"edits": "a3-1,a3-2", "watch": "blank", "curve": 1, "steps": 2, "greedy": "most"},
        {"edits": "-", "clicking": "hide"},
        {"edits": "c3-1-2-1", "clicking": "cut", "looks": 1},
        {"edits": "a9-0"},
        {"edits": "a5-0", "watch": "follows"},
        {"edits": "a5-0", "watch": "follows", "pair": "it was asleep", "later": 3},
        {"edits": "a0-0", "watch": "next"},
        {"watch": "blank", "first": "it", "second": "it"},
        {"text": "word " * 600},
        {"model": "headlight-en-fr"},
    ],
)
def test_nothing_of_it_is_left_in_english(query: dict[str, object]) -> None:
    query = {"text": TEXT, **query}
    page = asked("cause", lang="zh", **query)
    assert not page.exception
    assert page.title[0].value == "这个头重要吗？"
    assert english(page, *map(str, query.values())) == []


@pytest.mark.slow
def test_labels_are_watched_in_chinese(tmp_path: Path) -> None:
    text, words = save(tmp_path / "text"), save(tmp_path / "words", head=TAG)
    number = save(tmp_path / "number", labels=("grade",))
    with allowed(tmp_path):
        for model, watch in ((text, "label"), (words, "tag"), (number, "label")):
            page = asked("cause", lang="zh", model=model, text=TEXT, watch=watch, edits="a0-1")
            assert not page.exception
            assert english(page, TEXT) == []
