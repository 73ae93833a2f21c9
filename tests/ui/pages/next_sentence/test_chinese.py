"""The Next sentence page speaks Chinese, whatever is asked of it."""

from __future__ import annotations

import pytest

from i18n import translate, use_language
from inference import UserError
from inference.files.embedded import BERT
from tests.support.asking import asked, press
from tests.support.words import english
from ui.pages.next_sentence.judgement import EXAMPLE
from ui.pages.next_sentence.pairs_table import MOST, STARTERS, parse

READ = (str(EXAMPLE["text"]), str(EXAMPLE["pair"]), *(text for pair in STARTERS for text in pair))


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"model": BERT, "text": "The cat sat on the mat.", "pair": "It was asleep within a minute.", "looks": "first"},
        {"pair": "The river is long.", "text": "My sister plays the violin.", "at": "others", "layer": 1, "head": 2},
    ],
)
def test_nothing_of_it_is_left_in_english(query: dict[str, object]) -> None:
    page = asked("next_sentence", lang="zh", **query)
    assert not page.exception
    press(page, "判断这些文本对")
    assert not page.exception
    assert english(page, *READ, *map(str, query.values())) == []


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (b"only one\n", "文件第 1 行没有两段文本"),
        (b"first text,second text\n", "文件中没有文本对"),
        (b"x,y\n" * (MOST + 1), f"文件有 {MOST + 1} 对"),
    ],
)
def test_a_file_is_refused_in_chinese(file: bytes, said: str) -> None:
    with pytest.raises(UserError) as refused, use_language("zh"):
        parse(file)
    with use_language("zh"):
        assert said in translate(refused.value.message)
