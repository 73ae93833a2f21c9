"""Positions of tokens in a text, for tokenizers that do not report them."""

from __future__ import annotations

from inference.text.pieces import ReadablePiece, readable_pieces
from inference.text.words import places
from tests.support.cases import loop_over

UNKNOWN = "?"


def found(text: str, pieces: str) -> list[str | None]:
    """Return the text at each token's position; ``pieces`` are separated by spaces, "?" is an unknown token."""
    names = pieces.split(" ")
    spans = places(text, [ReadablePiece(name, name) for name in names], [name == UNKNOWN for name in names])
    return [None if span is None else text[slice(*span)] for span in spans]


@loop_over(
    ("text", "pieces", "expected"),
    [
        ("the 猫 sat", "the ? sat", "猫"),
        ("猫 sat", "? sat", "猫"),
        ("Sat 猫犬", "sat ?", "猫犬"),
        ("猫", "?", "猫"),
        ("the猫the", "the ? the", "猫"),
        ("a猫 b b", "a ? b b", "猫"),
        ("“the” 猫 sat", '" the " ? sat', None),  # Changed quotation marks make neighbours uncertain.
        ("“the 猫 sat", '" the ? sat', "猫"),
        ("Öa a", "? a", "Öa"),
        ("Öa a b", "? a b", "Öa"),
        ("b a c a d", "? a ?", None),  # The known "a" is ambiguous.
        ("a the b the", "a ? the", "the b"),
        ("a b the c the e d", "a ? the ? d", None),
        ("a b the the d", "a ? the ? d", "b"),  # Some text lies between both known tokens.
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
