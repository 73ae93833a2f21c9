"""The list of models to choose from."""

from __future__ import annotations

from pathlib import Path

from inference.catalogue import catalogue
from inference.hub_names import check_id
from inference.request import EMBEDDED
from inference.settings import Settings
from tests.tinymodels import save


def test_the_embedded_model_comes_first(tmp_path: Path) -> None:
    cards = catalogue(Settings(cache=tmp_path))
    assert cards[0].id == EMBEDDED
    assert cards[0].embedded
    assert cards[0].downloaded
    assert not any(card.embedded or card.downloaded for card in cards[1:])


def test_every_card_says_enough(tmp_path: Path) -> None:
    cards = catalogue(Settings(cache=tmp_path))
    assert len({card.id for card in cards}) == len(cards)
    assert {card.kind for card in cards} == {"encoder", "decoder", "encoder-decoder"}
    for card in cards:
        assert card.title
        assert card.language
        assert card.summary.endswith(".")
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
