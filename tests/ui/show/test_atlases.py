"""The atlas of a page: the picked one, else that of the selected model."""

from __future__ import annotations

import pytest

from attention.spreadsheet import file_stem
from inference import EMBEDDED
from inference.settings import Settings
from serving.stored_answers import weights_hash
from ui.show import atlases
from ui.state.view_state import DEFAULT_MODEL, ViewState
from viz.paper.notebook import figure_methods


@pytest.mark.parametrize("model", [EMBEDDED, DEFAULT_MODEL])
def test_a_page_opens_the_atlas_of_the_selected_model(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    monkeypatch.setattr(atlases, "get_view_state", lambda: ViewState(model=model))
    name = atlases.atlas_name("")
    assert name is not None
    assert atlases.open_atlas(name).manifest["model"] == model


def test_a_picked_atlas_is_opened_whatever_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atlases, "get_view_state", lambda: ViewState(model=DEFAULT_MODEL))
    for name in atlases.shipped_atlases():
        assert atlases.atlas_name(name) == name


def test_a_model_without_an_atlas_opens_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atlases, "get_view_state", lambda: ViewState(model="another/model"))
    assert atlases.atlas_name("") == atlases.shipped_atlases()[0]
    assert atlases.atlas_name("no such atlas") == atlases.shipped_atlases()[0]


def test_without_atlases_there_is_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atlases, "get_view_state", lambda: ViewState(model=DEFAULT_MODEL))
    monkeypatch.setattr(atlases, "atlas_titles", lambda *_picked: {})
    assert atlases.atlas_name("") is None


def test_files_of_an_atlas_name_its_texts_and_no_text_of_the_page() -> None:
    atlas = atlases.open_atlas(EMBEDDED)
    about = atlases.atlas_provenance(atlas, "16 windows")
    assert "text" not in about
    said = figure_methods("All heads", about, "")
    found = atlas.manifest
    for part in (f"{found['tokens']:,}", f"{found['texts']:,}", found["sources"][0]["name"], EMBEDDED, "16 windows"):
        assert part in said, part
    for model in (EMBEDDED, DEFAULT_MODEL):
        weights = atlases.atlas_provenance(atlases.open_atlas(model))["weights_sha256"]
        assert weights == weights_hash(model, Settings()), model
    stem = file_stem("finder", atlases.atlas_provenance(atlas))
    assert stem == f"finder_{EMBEDDED}_head-atlas--wikipedia"
