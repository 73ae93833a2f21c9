"""Places of pieces in a text, told by nobody."""

from __future__ import annotations

import pytest

from inference.text.pieces import ReadablePiece, readable_pieces
from inference.text.words import places

UNKNOWN = "?"


def found(text: str, pieces: str) -> list[str | None]:
    """What stands where each piece is said to be; pieces are given with spaces between, unknown ones as "?"."""
    names = pieces.split(" ")
    spans = places(text, [ReadablePiece(name, name) for name in names], [name == UNKNOWN for name in names])
    return [None if span is None else text[slice(*span)] for span in spans]


@pytest.mark.parametrize(
    ("text", "pieces", "expected"),
    [
        ("the 猫 sat", "the ? sat", "猫"),
        ("猫 sat", "? sat", "猫"),
        ("Sat 猫犬", "sat ?", "猫犬"),
        ("猫", "?", "猫"),
        ("the猫the", "the ? the", "猫"),
        ("a猫 b b", "a ? b b", "猫"),
        ("“the” 猫 sat", '" the " ? sat', None),  # other quotation marks were read: what is beside them may be more
        ("“the 猫 sat", '" the ? sat', "猫"),
        ("Öa a", "? a", "Öa"),
        ("Öa a b", "? a b", "Öa"),
        ("b a c a d", "? a ?", None),  # which a is known cannot be told
        ("a the b the", "a ? the", "the b"),
        ("a b the c the e d", "a ? the ? d", None),
        ("a b the the d", "a ? the ? d", "b"),  # something is between the known ones
        ("the 猫 sat", "the ? stood", None),
        ("other words", "the ? sat", None),
    ],
)
def test_what_is_unknown_has_its_characters_where_there_is_one_way_only(
    text: str, pieces: str, expected: str | None
) -> None:
    assert found(text, pieces)[pieces.split(" ").index(UNKNOWN)] == expected


def test_neighbours_have_a_word_each_or_none_has() -> None:
    assert found("the 猫  犬 sat", "the ? ? sat") == ["the", "猫", "犬", "sat"]
    assert found("the 猫犬 sat", "the ? ? sat") == ["the", None, None, "sat"]


def test_the_pieces_of_one_character_stand_where_it_does() -> None:
    read = readable_pieces(["▁a", "<0xE5>", "<0xA4>", "<0xA9>", "▁b"], "metaspace")
    assert places("a 天b", read, [False] * 5) == [(0, 1), (2, 3), (2, 3), (2, 3), (3, 4)]
    assert places("a 天 猫", [*read[:4], ReadablePiece("?", "?")], [False] * 4 + [True])[-1] == (4, 5)
