"""The page in Chinese: no English sentence is left on it, whatever it shows or refuses."""

from __future__ import annotations

import pytest

from probing.formats import load_ready_set
from tests.support.asking import asked
from tests.support.words import english

TEXTS = [item.text for name in ("grammar", "pronouns") for item in load_ready_set(name).items]
STATES = {
    "at first": {},
    "pronouns, read the other way, hits only": {"data": "pronouns", "way": "out", "outcome": "hits", "count": 1},
    "one relation, without random weights": {"relation": "det", "control": 0, "outcome": "misses"},
    "more links than there are": {"least": 100_000, "control": 0},
    "a treebank": {"data": "file"},
    "a file of pronouns": {"data": "file", "format": "gap"},
    "a table": {"data": "file", "format": "csv"},
}


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_no_english_is_left(state: dict[str, object]) -> None:
    page = asked("measure", lang="zh", **state)
    assert not page.exception
    assert page.title[0].value == "哪个头能找到某种关系，找得有多好？"
    assert english(page, *TEXTS) == []
