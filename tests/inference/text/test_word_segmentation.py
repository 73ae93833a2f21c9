"""Word segmentation in all scripts."""

from __future__ import annotations

from inference.text.words import number_words, words_of_spans
from tests.support.cases import loop_over


@loop_over(
    ("text", "words"),
    [
        ("two words", ["two", "words"]),
        ("didn't", ["didn", "'", "t"]),
        ("v2 x_y", ["v2", "x", "_", "y"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("你好", ["你", "好"]),
        ("ありがとう", list("ありがとう")),
        ("안녕 세상", ["안녕", "세상"]),
        ("مرحبا، عالم", ["مرحبا", "،", "عالم"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("👨‍👩‍👧‍👦👍🏽", ["👨‍👩‍👧‍👦", "👍🏽"]),
        ("🇫🇷🇩🇪", ["🇫🇷", "🇩🇪"]),
        ("ok👍ok", ["ok", "👍", "ok"]),
        ("❤️!", ["❤️", "!"]),
        ("\u0301x", ["\u0301", "x"]),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    found: dict[int, str] = {}
    for character, number in zip(text, number_words(text), strict=True):
        if number is not None:
            found[number] = found.get(number, "") + character
    assert list(found) == list(range(len(found)))
    assert list(found.values()) == words


def test_a_piece_of_space_belongs_to_the_next_word_unless_it_ends_a_line() -> None:
    text = "a  b\nc"
    spans = [(0, 1), (1, 2), (2, 4), (4, 5), (5, 6)]
    assert words_of_spans(text, spans, ["start", "space", "start", "inside", "inside"]) == [0, 1, 1, 2, 3]


def test_pieces_without_a_place_go_by_their_role() -> None:
    spans = [None, (0, 1), None, None, None]
    assert words_of_spans("a b", spans, ["space", "inside", "inside", "start", "space"]) == [0, 0, 0, 1, 2]
