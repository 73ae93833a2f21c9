"""Unsupported queries of the Find page and their messages, and the texts that its file states."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from attention.spreadsheet import meta_json, with_provenance
from tests.support.asking import asked, notes, says
from ui.show import tables


@pytest.mark.slow
def test_a_text_of_two_words_says_what_is_missing() -> None:
    says(asked("find", text="Hello there"), "three words")


@pytest.mark.slow
def test_a_word_that_the_changed_text_lacks_is_named() -> None:
    page = asked("find", text="The cat slept when it was sad", other="The cat was sad")
    (named,) = notes(page, "refusal")
    assert re.findall("“(.+?)”", named) == ["it"]


@pytest.mark.slow
def test_the_file_states_the_changed_text_and_its_rewordings(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []

    def keep(stem: str, table: str | bytes, provenance: Any) -> bytes:
        made.append(json.loads(meta_json(stem, provenance)))
        return with_provenance(stem, table, provenance)

    monkeypatch.setattr(tables, "with_provenance", keep)
    text = "The animal didn't cross the street because it was {}."
    texts = {"text": text.format("too tired"), "other": text.format("too wide"), "neutral": text.format("so tired")}
    asked("find", **texts)
    (about,) = made
    assert (about["second_text"], about["rewordings"]) == (texts["other"], [texts["neutral"]])
