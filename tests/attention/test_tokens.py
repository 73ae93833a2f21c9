"""Rows of tokens, and the labels of their tokens outside the text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attention.storage import dump, parse
from attention.tokens import TokenRow
from attention.view import View
from tests.support.traces import sentence_trace

# The tokens are [CLS] my 猫 play ##ing | 猫; 猫 is an unknown token.
ROW = TokenRow(
    ("[CLS]", "my", "猫", "play", "ing", "猫"),
    (9, 5, 0, 6, 7, 0),
    (None, 0, 1, 2, 2, 0),
    (0, 0, 0, 0, 0, 1),
    (None, (0, 2), (3, 4), (5, 9), (9, 12), (0, 1)),
    ("", "", "[UNK]", "", "", "[UNK]"),
)


def test_pieces_are_told_from_words_and_unknown_words_are_marked() -> None:
    assert ROW.labels == ("[CLS]", "my", "猫 [UNK]", "play", "##ing", "猫 [UNK]")


def test_unknown_words_are_counted_in_both_texts() -> None:
    assert ROW.unknown_words() == (2, 4)
    assert replace(ROW, unknown=()).unknown_words() == (0, 4)


def test_every_token_needs_one_of_every_field() -> None:
    with pytest.raises(ValueError, match="every field"):
        replace(ROW, unknown=("[UNK]",))


def test_what_was_unknown_is_saved_with_a_trace_and_merges_with_its_word() -> None:
    pieces = sentence_trace().source
    trace = sentence_trace(source=replace(pieces, unknown=("[UNK]",) * len(pieces)))
    assert parse(dump(trace)).source == trace.source
    assert {cell.unknown for cell in View(trace, words=True).queries} == {"[UNK]"}
    assert not any(cell.goes_on for cell in View(trace, words=True).queries)
    assert [cell.label for cell in View(trace).queries] == list(trace.source.labels)


def test_a_part_of_a_character_is_no_unknown_word_and_a_word_of_all_its_parts_is_whole() -> None:
    row = TokenRow(("天 1–2/3", "天 3/3"), (5, 6), (0, 0), (0, 0), ((0, 1), (0, 1)), ("<0xE5><0xA4>", "<0xA9>"))
    assert row.unknown_words() == (0, 1)
    assert row.labels == ("天 1–2/3", "##天 3/3")
    pieces = sentence_trace().source
    trace = sentence_trace(source=replace(pieces, unknown=("<0xE5>",) * len(pieces)))
    assert not any(cell.unknown for cell in View(trace, words=True).queries if cell.pieces[1] - cell.pieces[0] > 1)
    assert all(cell.unknown for cell in View(trace).queries)
