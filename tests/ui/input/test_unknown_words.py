"""Which model is offered for words that the chosen one does not know."""

from __future__ import annotations

from dataclasses import replace

from inference.catalogue.cards import E5_CARD, EMBEDDED_CARD, SMOLLM_CARD
from inference.hub_cards import HUB_CARDS
from ui.input.unknown_words import reads, told, without_hub

CARDS = (EMBEDDED_CARD, *HUB_CARDS)


def test_chinese_goes_to_a_chinese_model_and_all_else_to_bytes() -> None:
    chinese = reads(CARDS, ["猫", "很"], "encoder")
    assert chinese is not None
    assert chinese.language == "Chinese"
    for lacking in (["こんにちは"], ["猫", "😀"], ["مرحبا"]):
        found = reads(CARDS, lacking, "encoder")
        assert found is not None
        assert (found.spells, found.kind) == (True, "encoder")


def test_what_is_here_comes_before_what_must_be_fetched() -> None:
    assert reads((*CARDS, SMOLLM_CARD), ["猫"], "encoder") == SMOLLM_CARD
    here = replace(HUB_CARDS[1], downloaded=True)
    assert reads((here, SMOLLM_CARD), ["猫"], "decoder") == here


def test_an_extra_is_named_where_nothing_here_reads_the_words() -> None:
    fetched = HUB_CARDS[1]
    assert "E5 small" in without_hub(CARDS, ["猫"], fetched)
    assert "SmolLM2" in without_hub((*CARDS, E5_CARD), ["こ"], None)
    assert "make extra" in without_hub(CARDS, ["こ"], None)
    assert without_hub((*CARDS, E5_CARD), ["猫"], replace(fetched, downloaded=True)) == ""
    assert without_hub((*CARDS, E5_CARD, SMOLLM_CARD), ["猫"], fetched) == ""


def test_no_model_is_made_up() -> None:
    assert reads([EMBEDDED_CARD], ["猫"], "encoder") is None


def test_the_sentence_counts_and_tells_what_a_model_costs() -> None:
    said = told("MiniLM", 2, 7, "[UNK]", next(card for card in CARDS if card.title == "RoBERTa base"))
    assert said.startswith("2 of the 7 words here are not in the vocabulary of MiniLM: it reads [UNK] in their place")
    assert said.endswith("RoBERTa base (499 MB to fetch) spells every character in bytes, so it loses none.")
