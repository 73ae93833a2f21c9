"""The page in Chinese: no English sentence is left on it, whatever it shows or refuses."""

from __future__ import annotations

import pytest

from probing.formats import load_ready_set
from tests.support.asking import asked
from tests.support.words import english
from ui.state.examples import EXAMPLES

TEXTS = [
    *(text for example in EXAMPLES for text in (example["text"], example.get("pair", "")) if text),
    *(item.text for name in ("grammar", "pronouns") for item in load_ready_set(name).items),
]
STATES = {
    "at first": {},
    "of the sentences": {"source": "sentences", "relations": 0, "outcome": "misses"},
    "one role, every head at its least share": {"relations": 0, "relation": "broad", "share": 10, "count": 1},
    "no role that any head has": {"relations": 0, "share": 100, "only": "none", "text": "cat"},
    "a relation that it may find": {"relation": "det"},
    "no text": {"text": " ", "relations": 0},
}


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_no_english_is_left(state: dict[str, object]) -> None:
    page = asked("roles", lang="zh", **state)
    assert not page.exception
    assert page.title[0].value == "每个头是做什么的？"
    assert english(page, *TEXTS) == []
