"""A sentence that was written to a file is told as if it had not been."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wording import Sentence, sentence, sentences, speaking, stored, told

SAID = [
    sentence("Explore"),
    sentence("{page}: {n:,}", page=sentence("Explore"), n=1200),
    sentence("{share:.1%} of {file}", share=np.float32(0.25), file=Path("a.csv")),
    sentences("{n} head", "{n} heads", 2, n=np.int64(2)),
    "whatever a reader typed, {with} braces",
]


@pytest.mark.parametrize("said", SAID)
def test_it_is_read_as_it_was_written(said: str) -> None:
    made_of = json.loads(json.dumps(stored.parts(said)))
    again = stored.whole(str(said), made_of)
    assert again == said
    assert isinstance(again, Sentence) == isinstance(said, Sentence)
    with speaking("zh"):
        assert told(again) == told(said)


@pytest.mark.parametrize(
    "made_of",
    [
        None,
        3,
        "{said}",
        [],
        {},
        {"template": 3, "values": {}},
        {"template": "Other.", "values": {}},
        {"template": "{n}", "values": {}},
        {"template": "{n:d}", "values": {"n": "x"}},
        {"template": "{n.x}", "values": {"n": 3}},
        {"template": "{n}", "values": {"n": {"said": 3}}},
        {"template": "Said.", "values": 3},
    ],
)
def test_what_it_is_not_made_of_is_left(made_of: Any) -> None:
    again = stored.whole("Said.", made_of)
    assert (again, type(again)) == ("Said.", str)
