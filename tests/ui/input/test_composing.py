"""Examples that the text box offers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from inference.catalogue.listing import E5_CARD, EMBEDDED_CARD
from inference.hub_cards import ModelCard
from ui.input import composing
from ui.state.view_state import EXAMPLES


@dataclass
class Backend:
    """A backend with a fixed list of models."""

    cards: tuple[ModelCard, ...]

    def models(self) -> tuple[ModelCard, ...]:
        return self.cards


@pytest.mark.parametrize("installed", [False, True])
def test_an_example_is_offered_if_its_model_is_installed(monkeypatch: pytest.MonkeyPatch, installed: bool) -> None:
    cards = (EMBEDDED_CARD, replace(E5_CARD, downloaded=installed))
    monkeypatch.setattr(composing, "get_backend", lambda: Backend(cards))
    texts = [example["text"] for example in composing.available_examples("encoder")]
    assert "The animal didn't cross the street because it was too tired." in texts
    assert ("那只动物没有过马路，它太累了。" in texts) is installed
    assert any("\u4e00" <= letter <= "\u9fff" for text in texts for letter in text) is installed


@pytest.mark.parametrize("installed", [False, True])
def test_translators_are_offered_translated_examples(monkeypatch: pytest.MonkeyPatch, installed: bool) -> None:
    cards = (EMBEDDED_CARD, replace(E5_CARD, downloaded=installed))
    monkeypatch.setattr(composing, "get_backend", lambda: Backend(cards))
    translated = composing.available_examples("encoder-decoder")
    assert len(translated) == 7
    assert all(example["french"] for example in translated)
    assert translated[0] == EXAMPLES[0]
    for kind in ("encoder", "decoder"):
        read = composing.available_examples(kind)
        assert [example for example in read if example in translated] == [EXAMPLES[0]]
        assert len(read) == len(EXAMPLES) - 6 - 3 * (not installed)
