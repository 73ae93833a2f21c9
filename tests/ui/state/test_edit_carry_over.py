"""Views after an edit of the text: kept for small edits, reset for new texts."""

from __future__ import annotations

from typing import Any

import pytest

from attention.tokens import TokenRow
from attention.trace import Trace
from tests.support.traces import LAYERS, record, sentence_trace
from ui.state.selection import carry_over
from ui.state.view_state import ViewState

FAMOUS = "the animal crossed because it was tired"


def read(text: str, pair: str = "") -> Trace:
    """Return a trace with a token for each word, and special tokens."""
    pieces: list[str] = ["[CLS]"]
    words: list[int | None] = [None]
    segments = [0]
    for segment, one in enumerate(part for part in (text, pair) if part):
        pieces += [*one.split(), "[SEP]"]
        words += [*range(len(one.split())), None]
        segments += [segment] * (len(one.split()) + 1)
    spans = tuple(None if word is None else (5 * word, 5 * word + 4) for word in words)
    row = TokenRow(tuple(pieces), tuple(range(len(pieces))), tuple(words), tuple(segments), spans)
    records = tuple(record(len(row), len(row), seed=layer) for layer in range(LAYERS))
    return sentence_trace(text=text, pair=pair or None, source=row, parts={"encoder": records})


def stays(text: str, pair: str = "", **chosen: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the view after an edit, with the words at its positions, and the notes."""
    old, new = read(FAMOUS), read(text, pair)
    ends: dict[str, Any] = {name: old.tokens.index(chosen.pop(name)) for name in ("focus", "to") if name in chosen}
    found = carry_over(ViewState(layer=1, head=2, pins="0-1", **ends, **chosen), old, new)
    assert found is not None
    view, notes = found
    named = {name: None if view[name] is None else new.tokens[view[name]] for name in ("focus", "to")}
    return {**view, **named}, notes


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        (FAMOUS, ""),
        ("the animal crossed because it was wide", ""),
        ("yesterday the animal never crossed because it was much too tired", ""),
        (FAMOUS, "nobody saw it"),
        ("animal crossed because it", ""),
    ],
)
def test_head_word_and_target_stay(text: str, pair: str) -> None:
    view, notes = stays(text, pair, focus="it", to="animal")
    assert (view["layer"], view["head"], view["pins"]) == (1, 2, "0-1")
    assert (view["focus"], view["to"]) == ("it", "animal")
    assert notes == []


def test_a_word_that_was_replaced_is_said_to_be_gone() -> None:
    view, notes = stays("the dog crossed because it was tired", focus="it", to="animal")
    assert (view["focus"], view["to"]) == ("it", "dog")
    assert notes == ["“animal” is gone from the text; “dog” in its place is selected."]


def test_a_word_that_was_left_out_is_said_to_be_gone_and_another_asked_about() -> None:
    view, notes = stays("the animal crossed because was tired", focus="it", to="animal")
    assert (view["layer"], view["head"], view["focus"], view["to"]) == (1, 2, None, None)
    assert notes == ["The selected “it” is gone from the text."]
    view, notes = stays("the crossed because it was tired", focus="it", to="animal")
    assert (view["focus"], view["to"]) == ("it", None)
    assert len(notes) == 1
    view, _ = stays("the animal crossed because was tired", focus="it", to="animal", facing="in")
    assert (view["facing"], view["focus"], view["to"]) == ("in", None, "animal")


@pytest.mark.parametrize("text", ["my brother lost all his keys", "the keys were lost because nobody looked", ""])
def test_a_wholly_new_text_keeps_nothing(text: str) -> None:
    assert carry_over(ViewState(layer=1, head=2, focus=5), read(FAMOUS), read(text)) is None


def test_what_was_not_chosen_and_what_the_old_text_did_not_have_stays_open() -> None:
    view, notes = carry_over(ViewState(layer=1, head=2, focus=99), read(FAMOUS), read(FAMOUS)) or ({}, [])
    assert (view["focus"], view["to"], notes) == (None, None, [])
