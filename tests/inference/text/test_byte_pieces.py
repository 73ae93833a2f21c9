"""Labels of characters that are split into byte tokens."""

from __future__ import annotations

import random

from inference.text.pieces import ReadablePiece, readable_piece, readable_pieces
from tests.inference.text.test_pieces import spelled
from tests.support.cases import draw_seeds

TEXT = "a 天ンé b👍🏽ש\u0e19"


def cut(text: str, at: list[int]) -> list[str]:
    """Return a text's bytes as tokens of a byte-level vocabulary, split at these positions."""
    raw = text.encode()
    return [spelled(raw[start:end]) for start, end in zip([0, *at], [*at, len(raw)], strict=True)]


@draw_seeds(20)
def test_however_a_text_is_cut_its_characters_stay_and_no_two_parts_look_the_same(seed: int) -> None:
    dice = random.Random(seed)
    places = sorted(dice.sample(range(1, len(TEXT.encode())), dice.randrange(1, len(TEXT.encode()))))
    pieces = cut(TEXT, places)
    read = readable_pieces(pieces, "bytes")
    whole = "".join(piece.bare[: len(piece.bare) - piece.goes_on] for piece in read)
    assert whole.replace("␣", "").replace(" ", "") == TEXT.replace(" ", "")
    assert not any("<0x" in piece.text for piece in read)
    parts = [piece.text for piece in read if piece.name]
    assert len(set(parts)) == len(parts)
    assert [piece.name or piece.text for piece in read] == [readable_piece(piece, "bytes") for piece in pieces]


def test_pieces_that_cut_no_character_are_as_they_were() -> None:
    for pieces, how in (
        (["Ġthe", "Ġ", "caf\u00c3\u00a9"], "bytes"),
        (["▁the", "s"], "metaspace"),
        (["##ing"], "wordpiece"),
    ):
        assert readable_pieces(pieces, how) == [
            ReadablePiece(readable_piece(piece, how), readable_piece(piece, how)) for piece in pieces
        ]


def test_a_piece_of_two_characters_says_both() -> None:
    assert [piece.text for piece in readable_pieces(cut("ント", [2, 4]), "bytes")] == [
        "ン 1–2/3",
        "ン 3/3 ト 1/3",
        "ト 2–3/3",
    ]
    assert [piece.text for piece in readable_pieces(cut(" ント", [5]), "bytes")] == ["ン ト 1/3", "ト 2–3/3"]


def test_what_leaves_no_sign_keeps_the_names_of_its_bytes_and_a_mark_has_a_carrier() -> None:
    assert [piece.text for piece in readable_pieces(cut("\u200d", [1]), "bytes")] == ["<0xE2>", "<0x80><0x8D>"]
    assert [piece.text for piece in readable_pieces(cut("\u0301", [1]), "bytes")] == ["◌\u0301 1/2", "◌\u0301 2/2"]


def test_bytes_that_make_no_character_stay_bytes() -> None:
    assert [piece.text for piece in readable_pieces(cut("天", [1])[:1], "bytes")] == ["<0xE5>"]
    apart = readable_pieces(["<0xE5>", None, "<0xA4>", "<0xA9>"], "metaspace")
    assert [piece.text for piece in apart] == ["<0xE5>", "", "<0xA4>", "<0xA9>"], "a special token stands between"


def test_byte_tokens_of_whole_characters_are_read_as_them() -> None:
    tokens = ["▁a", "<0x3C>", "<0x23>", "<0x40>", "<0x0A>", "<0xE5>", "<0xA4>", "<0xA9>"]
    assert [piece.text for piece in readable_pieces(tokens, "metaspace")] == [
        "a",
        "<",
        "#",
        "@",
        "⏎",
        "天 1/3",
        "天 2/3",
        "天 3/3",
    ]
    assert readable_pieces(["<0x3C>"], "metaspace") == [ReadablePiece("<", "<")]
