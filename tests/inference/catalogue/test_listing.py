"""The catalogue of models that users can choose from."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inference.catalogue import listing as room
from inference.catalogue.listing import catalogue, list_vision_models
from inference.files import hub
from inference.files.extras import E5
from inference.files.hub import check_id
from inference.request import EMBEDDED
from inference.settings import Settings
from tests.support.picturemodels import save as save_seeing
from tests.support.picturemodels import sight
from tests.support.tinymodels import save


def test_the_embedded_model_comes_first(tmp_path: Path) -> None:
    cards = catalogue(Settings(cache=tmp_path))
    assert cards[0].id == EMBEDDED
    assert cards[0].embedded
    assert cards[0].downloaded
    come = [card for card in cards if card.embedded]
    assert list(cards[: len(come)]) == come
    assert all(card.downloaded for card in come)
    assert not any(card.downloaded for card in cards[len(come) :])


def test_every_card_says_enough(tmp_path: Path) -> None:
    cards = catalogue(Settings(cache=tmp_path))
    assert len({card.id for card in cards}) == len(cards)
    assert {card.kind for card in cards} == {"encoder", "decoder", "encoder-decoder"}
    for card in cards:
        assert card.title
        assert card.language
        assert card.summary.endswith(".")
        assert card.heads or card.id in (EMBEDDED, E5.name, "google/electra-base-discriminator")
        assert card.embedded or check_id(card.id)


def test_local_models_are_listed_and_what_is_none_is_not(tmp_path: Path) -> None:
    for kind in ("bert", "gpt2", "t5"):
        save(tmp_path / "deep" / kind, kind)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{")
    local = [card for card in catalogue(Settings(cache=tmp_path, model_folders=(tmp_path,))) if card.local]
    assert [(card.title, card.kind) for card in local] == [
        ("bert", "encoder"),
        ("gpt2", "decoder"),
        ("t5", "encoder-decoder"),
    ]
    assert all(Path(card.id).is_dir() and card.downloaded for card in local)


def test_models_that_see_are_listed_by_themselves(tmp_path: Path) -> None:
    for name in ("ViT", "CLIP"):
        save_seeing(sight(name), tmp_path / name)
    settings = Settings(cache=tmp_path, model_folders=(tmp_path,))
    cards = list_vision_models(settings)
    assert [(card.title, card.reads) for card in cards if card.local] == [("CLIP", "both"), ("ViT", "pictures")]
    assert [card.title for card in catalogue(settings) if card.local] == ["CLIP"]
    for card in cards:
        assert card.title
        assert card.summary.endswith(".")
        assert card.local or card.embedded or (check_id(card.id) and not card.downloaded)
    assert not {card.id for card in cards if not card.local} & {card.id for card in catalogue(settings)}


def test_what_was_found_is_given_again_for_some_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Settings] = []
    real = room.scan_catalog

    def noting(settings: Settings) -> Any:
        looks.append(settings)
        return real(settings)

    monkeypatch.setattr(room, "scan_catalog", noting)
    now = time.monotonic()
    monkeypatch.setattr(room, "time", SimpleNamespace(monotonic=lambda: now))  # A fixed time keeps the cache fresh.
    one, other = Settings(cache=tmp_path), Settings(cache=tmp_path / "other")
    assert catalogue(one) is catalogue(one)
    catalogue(other)
    assert looks == [one, other]
    now += 6
    catalogue(one)
    assert looks == [one, other, one]
    assert len(room.found_lately) == 1


def test_a_new_folder_and_a_finished_download_are_seen_at_once(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    settings = Settings(cache=tmp_path / "cache", model_folders=(tmp_path / "models",))
    assert not any(card.local for card in catalogue(settings))
    save(tmp_path / "models" / "mine", "bert")
    assert [card.title for card in catalogue(settings) if card.local] == ["mine"]
    reference = hub.reference_file("openai-community/gpt2", None, settings)
    save(reference.parent.parent / "snapshots" / "abc", "gpt2")
    reference.parent.mkdir()
    reference.write_text("abc")
    assert [card.title for card in catalogue(settings) if card.downloaded and not card.embedded] == ["mine", "GPT-2"]


@pytest.mark.parametrize("architectures", [5, [], {}, "GPT2LMHeadModel", [None]])
def test_odd_configurations_spoil_no_list(tmp_path: Path, architectures: object) -> None:
    save(tmp_path / "mine", "bert")
    config = json.loads((tmp_path / "mine" / "config.json").read_text())
    (tmp_path / "mine" / "config.json").write_text(json.dumps(config | {"architectures": architectures}))
    cards = catalogue(Settings(cache=tmp_path / "cache", model_folders=(tmp_path,)))
    assert [card.title for card in cards if card.local] == ["mine"]
