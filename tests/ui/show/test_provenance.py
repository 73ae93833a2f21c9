"""Provenance of a page: its texts and the answering model."""

from __future__ import annotations

import pytest
import streamlit as st

from attention.trace import ModelId
from ui.show import tables
from ui.state.view_state import ViewState

MADE = ModelId("tiny", None, "encoder", "TinyModel", "ab" * 32)


class Backend:
    def identity(self, model: str, revision: str | None) -> ModelId:
        return ModelId(model, revision, "", "") if revision else MADE


@pytest.fixture(autouse=True)
def page(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    state: dict[str, object] = {"view": "cause"}
    monkeypatch.setattr(st, "session_state", state)
    monkeypatch.setattr(tables, "get_view_state", lambda: ViewState(model="tiny", text='=1+1, "x"\n\nend', pair="it"))
    monkeypatch.setattr(tables, "get_backend", Backend)
    return state


def test_provenance_has_the_model_and_the_texts() -> None:
    model = {"model": "tiny", "weights_sha256": "ab" * 32}
    assert tables.model_provenance() == model
    assert tables.page_provenance() == {**model, "text": '=1+1, "x"\n\nend', "pair": "it"}


def test_another_model_that_answers_here_is_the_one_named(page: dict[str, object]) -> None:
    tables.set_answering_model("other", "main")
    about = tables.page_provenance()
    assert (about["model"], about["revision"]) == ("other", "main")
    page["view"] = "masked_words"
    assert tables.page_provenance()["model"] == "tiny", "on another page the chosen one answers"


def test_texts_of_an_example_replace_those_of_the_page() -> None:
    model = {"model": "tiny", "weights_sha256": "ab" * 32}
    assert tables.texts_provenance("Who?", None) == {**model, "text": "Who?"}
    assert tables.data_provenance("40 texts") == {**model, "data": "40 texts"}
