"""The Masked words page in Chinese: each of its views and its refusals, none of its sentences left in English."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.asking import allowed, asked, notes
from tests.support.tinyheads import save
from tests.support.words import english
from ui.pages.masked_words.options import MaskedWordsOptions

TEXT = "The animal was in the street."
OURS = (TEXT, MaskedWordsOptions.first, MaskedWordsOptions.second)  # sentences for an English model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("predictors")
    folder = save(root / "tiny-bert", "BERT", head=2)
    with allowed(root):
        yield str(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({}, "原本在那里的“"),
        ({"ask": "it, playing, 猫", "text": "We playing it."}, "在空处，tiny-bert 把“"),
        ({"text": "We [MASK] [MASK] it."}, "在第 1 个空处"),
        ({"show": "looks"}, "空处给“"),
        ({"show": "layers"}, ""),
        ({"show": "words"}, "对于空处的“"),
        ({"show": "surprise"}, "伪困惑度"),
        ({"show": "two"}, "几率移动了"),
        ({"show": "two", "one": "is"}, "两个不同的词"),
        ({"show": "lesson"}, "要猜的子词有 "),
        ({"show": "words", "text": "[MASK]"}, "除了空处"),
    ],
)
def test_each_view_is_chinese(model: str, query: dict[str, str], said: str) -> None:
    page = asked("masked_words", lang="zh", **{"model": model, "text": TEXT, **query})
    assert any(said in note for note in notes(page)), notes(page)
    assert not page.exception
    assert english(page, *OURS) == []
