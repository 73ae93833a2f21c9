"""A message that was written to a file is translated as before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i18n import LazyMessage, gettext_lazy, lazy, ngettext_lazy, translate, use_language
from tests.support.cases import loop_over

SAID = [
    gettext_lazy("Explore"),
    gettext_lazy("{page}: {n:,}", page=gettext_lazy("Explore"), n=1200),
    gettext_lazy("{share:.1%} of {file}", share=np.float32(0.25), file=Path("a.csv")),
    ngettext_lazy("{n} head", "{n} heads", 2, n=np.int64(2)),
    "whatever a reader typed, {with} braces",
]


@pytest.mark.parametrize("said", SAID)
def test_it_is_read_as_it_was_written(said: str) -> None:
    made_of = json.loads(json.dumps(lazy.message_parts(said)))
    again = lazy.restore_message(str(said), made_of)
    assert again == said
    assert isinstance(again, LazyMessage) == isinstance(said, LazyMessage)
    with use_language("zh"):
        assert translate(again) == translate(said)


@loop_over(
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
    again = lazy.restore_message("Said.", made_of)
    assert (again, type(again)) == ("Said.", str)
