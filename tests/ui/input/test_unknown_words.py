"""Suggested models for words that the chosen model's vocabulary lacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from attention.storage import dump
from attention.tokens import TokenRow
from attention.trace import Trace
from inference.backend import LocalBackend
from inference.catalogue.listing import E5_CARD, EMBEDDED_CARD, SMOLLM_CARD, find_reader
from inference.hub_cards import HUB_CARDS
from inference.request import TraceRequest
from lessons.answer_key import CheckContext, CheckInput, Unanswerable
from lessons.checks import truth
from lessons.schema import CheckCall
from tests.support.asking import asked, notes, text_of
from tests.support.traces import sentence_trace
from ui.input.unknown_words import describe_offline_option, describe_unknown
from ui.pages.roles import evidence
from ui.run.services import get_backend, get_trace_store
from ui.state.view_state import ViewState

CARDS = (EMBEDDED_CARD, *HUB_CARDS)


def test_chinese_goes_to_a_chinese_model_and_all_else_to_bytes() -> None:
    chinese = find_reader(CARDS, ["猫", "很"], "encoder")
    assert chinese is not None
    assert chinese.language == "Chinese"
    for lacking in (["こんにちは"], ["猫", "😀"], ["مرحبا"]):
        found = find_reader(CARDS, lacking, "encoder")
        assert found is not None
        assert (found.spells, found.kind) == (True, "encoder")


def test_what_is_here_comes_before_what_must_be_fetched() -> None:
    assert find_reader((*CARDS, SMOLLM_CARD), ["猫"], "encoder") == SMOLLM_CARD
    here = replace(HUB_CARDS[1], downloaded=True)
    assert find_reader((here, SMOLLM_CARD), ["猫"], "decoder") == here


def test_an_extra_is_named_where_nothing_here_reads_the_words() -> None:
    fetched = HUB_CARDS[1]
    assert E5_CARD.title in describe_offline_option(CARDS, ["猫"], fetched)
    assert SMOLLM_CARD.title in describe_offline_option((*CARDS, E5_CARD), ["こ"], None)
    assert "make extra" in describe_offline_option(CARDS, ["こ"], None)
    assert describe_offline_option((*CARDS, E5_CARD), ["猫"], replace(fetched, downloaded=True)) == ""
    assert describe_offline_option((*CARDS, E5_CARD, SMOLLM_CARD), ["猫"], fetched) == ""


def test_no_model_is_made_up() -> None:
    assert find_reader([EMBEDDED_CARD], ["猫"], "encoder") is None


def test_the_sentence_counts_and_tells_what_a_model_costs() -> None:
    said = describe_unknown("MiniLM", 2, 7, "[UNK]", next(card for card in CARDS if card.title == "RoBERTa base"))
    assert (re.findall(r"\d+", said)[:2], "MiniLM:" in said) == (["2", "7"], True)
    assert said.endswith("RoBERTa base (499 MB to download) spells every character in bytes.")


RESULTS = ("headlight_explore", "headlight_matrices", "headlight_stack")
CHINESE = "那只动物没有过马路，因为它太累了。"
PAGES = {  # Each page shows a result for the same query with English texts.
    "explore": {"text": CHINESE},
    "compare": {"text": "The cat sat.", "other": CHINESE},
    "masked_words": {"text": CHINESE},
    "masked_words two": {"text": "The cat sat.", "show": "two", "first": "他吃[MASK]饭", "second": "他吃[MASK]面"},
    "next_sentence": {"text": "The cat sat on the mat.", "pair": CHINESE},
    "cause": {"text": CHINESE},
    "find": {"text": CHINESE},
    "patching": {"text": CHINESE, "other": "The cat sat.", "watch": "vector"},
    "positions": {"text": CHINESE},
    "similarity": {"text": "The cat sat.", "other": CHINESE},
}


def row(*unknown: str, segments: tuple[int, ...] = ()) -> TokenRow:
    """Return a row of words; non-empty strings of ``unknown`` mark unknown words."""
    many = len(unknown)
    places = segments or (0,) * many
    return TokenRow(("a",) * many, (7,) * many, tuple(range(many)), places, (None,) * many, unknown)


@pytest.mark.parametrize(
    ("found", "unreadable"),
    [
        (row("", "", "[UNK]"), (0, 1, 2)),  # The unknown share is exactly a third.
        (row("", "", "", "[UNK]"), ()),
        (row("", "", "<0xE7>", "<0x8C>"), ()),  # Byte tokens of a character count as known.
        (row("", "", "", "", "[UNK]", segments=(0, 0, 0, 0, 1)), (4,)),  # Only the second text is unreadable.
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
    assert len([text for text in notes(page, "refusal") if "[UNK]" in text]) == 1
    assert drawn(page) == []


@pytest.mark.slow
def test_a_page_shows_a_result_of_known_words() -> None:
    page = asked("masked_words", text="The cat [MASK] on the mat.")
    assert [text for text in notes(page, "refusal") if "[UNK]" in text] == []
    assert drawn(page) != []
    assert "headlight_explore" in drawn(asked("explore", text="The cat sat on the mat."))


def drawn(page: AppTest) -> list[str]:
    """Return the charts of a page and the names of its components that show attention."""
    components = [part.proto.component_name for part in page.get("bidi_component")]
    charts = ["chart"] * len(page.get("plotly_chart"))
    return charts + [name for name in components if name.startswith(RESULTS)]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["😀", "Καλημέρα κόσμε", "สวัสดี", "你好"])
def test_the_text_stays(text: str) -> None:
    page = asked("explore", text=text)
    assert not page.exception
    assert text_of(page) == text


@pytest.mark.slow
def test_an_opened_file_of_unknown_words_shows_no_result() -> None:
    """The page shows a refusal, and the suggested model reads the text of the file."""
    trace = LocalBackend().trace(TraceRequest(text=CHINESE))
    page = asked("explore", opened=get_trace_store().open(dump(trace)).id)
    assert not page.exception
    assert drawn(page) == []
    assert [text for text in notes(page, "refusal") if "[UNK]" in text] != []
    offered = [button for button in page.button if E5_CARD.title in button.label]
    for button in offered:
        button.click().run()
        assert text_of(page) == CHINESE
        assert page.query_params["model"] == E5_CARD.id


@pytest.mark.slow
@pytest.mark.parametrize("name", ["roles", "cause", "agreement", "step_by_step", "bertviz_views", "whole_pass"])
def test_a_file_or_text_of_unknown_words_is_drawn_nowhere(name: str) -> None:
    trace = LocalBackend().trace(TraceRequest(text=CHINESE))
    for query in ({"text": CHINESE}, {"opened": get_trace_store().open(dump(trace)).id}):
        page = asked(name, **query)
        assert not page.exception
        assert drawn(page) == [], query


@pytest.mark.slow
def test_a_lesson_computes_no_loss_of_unknown_words() -> None:
    reading = CheckInput("headlight-bert", CHINESE, CHINESE)
    for name in ("masked_loss", "joint_loss"):
        with pytest.raises(Unanswerable, match="UNK"):
            truth(CheckCall(name), CheckContext(get_backend(), reading))


@pytest.mark.parametrize(("unknown", "shown"), [(0, True), (2, True), (3, False), (4, False)])
def test_roles_leave_out_texts_of_unknown_words(monkeypatch: pytest.MonkeyPatch, unknown: int, shown: bool) -> None:
    """Results need at least half of the texts to be known; skipped texts are counted."""
    texts = [f"text {at}" for at in range(5)]
    lost = set(texts[:unknown])

    def trace_all(some: Sequence[str], _choice: ViewState) -> list[Trace]:
        traces = [sentence_trace(text=text) for text in some]
        return [replace(one, source=lose(one.source)) if one.text in lost else one for one in traces]

    def lose(words: TokenRow) -> TokenRow:
        return replace(words, unknown=("[UNK]",) * len(words))

    said: list[str] = []
    corpora = {"grammar": [SimpleNamespace(text=text) for text in texts], "pronouns": []}
    monkeypatch.setattr(evidence, "load_ready_set", lambda name: SimpleNamespace(items=corpora[name]))
    monkeypatch.setattr(evidence, "traces", trace_all)
    monkeypatch.setattr(evidence, "show_notice", lambda text, **_role: said.append(text))
    monkeypatch.setattr(evidence, "stoppable_steps", lambda _key, steps, _doing: range(steps))
    monkeypatch.setattr("streamlit.session_state", {})
    monkeypatch.setattr(evidence, "BATCH", 2)
    found = evidence.from_sentences(ViewState())
    assert (found is not None) is shown
    assert found is None or len(found.each) == 5 - unknown
    assert [f"{unknown} of 5" in text for text in said] == [True] * bool(unknown)
