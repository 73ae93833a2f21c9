"""The Tokens page speaks Chinese, whatever is asked of it."""

from __future__ import annotations

import pytest

from tests.support.asking import asked
from tests.support.words import english
from ui.pages.tokens.tokenizers import RARE

LONG = "the cat sat on the mat " * 60

NORMALISED = "deja vu in reykjavik, 你 好 👍🏽 it was asleep"  # without its accents


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        {"text": "The animal was too tired"},
        {"text": RARE, "pair": "It was asleep.", "beside": "headlight-en-fr"},
        {"text": "Embeddings", "beside": "nobody/nothing"},
        {"text": LONG, "model": "headlight-en-fr"},
        {"text": "[MASK] " * 9, "at": 2},
        {"text": ""},
    ],
)
def test_nothing_of_it_is_left_in_english(query: dict[str, object]) -> None:
    page = asked("tokens", lang="zh", **query)
    assert not page.exception
    assert page.title[0].value == "文本如何变成词元？"
    assert english(page, NORMALISED, *map(str, query.values())) == []
