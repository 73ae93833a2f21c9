"""The page Positions in Chinese: nothing that it says itself is left in English."""

from __future__ import annotations

import pytest

from tests.support.asking import asked
from tests.support.words import english

STATES: list[dict[str, object]] = [
    {},
    {"mix": "swap"},
    {"mix": "swap", "text": "Cat"},
    {"show": "vectors"},
    {"show": "shift"},
    {"show": "distance"},
    {"model": "headlight-en-fr", "text": "The cat sleeps."},
    {"model": "headlight-en-fr", "text": "The cat sleeps.", "show": "vectors"},
]


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES, ids=str)
def test_all_is_told(state: dict[str, object]) -> None:
    page = asked("positions", lang="zh", **state)
    assert english(page) == []
    assert [title.value for title in page.title] == ["它怎么知道词序？"]
    assert not page.exception
