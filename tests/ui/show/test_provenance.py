"""A saved table says which text it is about and which model read it."""

from __future__ import annotations

import csv
import io

import pytest
import streamlit as st

from attention.trace import ModelId
from ui.show import provenance
from ui.state.choice import Choice

MADE = ModelId("tiny", None, "encoder", "TinyModel", "ab" * 32)


class Backend:
    def identity(self, model: str, revision: str | None) -> ModelId:
        return ModelId(model, revision, "", "") if revision else MADE


@pytest.fixture(autouse=True)
def page(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    state: dict[str, object] = {"page": "cause"}
    monkeypatch.setattr(st, "session_state", state)
    monkeypatch.setattr(provenance, "current", lambda: Choice(model="tiny", text='=1+1, "x"\n\nend', pair="it"))
    monkeypatch.setattr(provenance, "backend", Backend)
    return state


def test_the_caption_comes_first_and_the_table_is_the_same() -> None:
    lines = list(csv.reader(io.StringIO(provenance.captioned("\ufeffword,p\r\nit,0.5\r\n"), newline="")))
    blank = lines.index([])
    about = dict(lines[:blank])
    assert about.pop("\ufeffmodel") == "tiny"
    assert about == {"weights_sha256": "ab" * 32, "text": '\'=1+1, "x"\n\nend', "pair": "it"}
    assert lines[blank + 1 :] == [["word", "p"], ["it", "0.5"]]


def test_another_model_that_answers_here_is_the_one_named(page: dict[str, object]) -> None:
    provenance.answers("other", "main")
    assert (provenance.provenance()["model"], provenance.provenance()["revision"]) == ("other", "main")
    page["page"] = "masked_words"
    assert provenance.provenance()["model"] == "tiny", "on another page the chosen one answers"
