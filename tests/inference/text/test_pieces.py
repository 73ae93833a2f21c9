"""Readable labels of tokens."""

from __future__ import annotations

import pytest

from inference.text.pieces import decode_bytes, readable_piece, role
from tests.support.cases import loop_over


def spelled(text: bytes) -> str:
    """Return bytes in GPT-2's alphabet."""
    from inference.text.pieces import _byte_of

    letters = {byte: letter for letter, byte in _byte_of().items()}
    return "".join(letters[byte] for byte in text)


@loop_over("text", ["hello", "été", "مرحبا", "你好", "😀", "a b"])
def test_whole_characters_read_as_they_are(text: str) -> None:
    assert decode_bytes(spelled(text.encode())) == text


def test_every_byte_has_a_letter() -> None:
    assert decode_bytes(spelled(bytes(range(128)))) == bytes(range(128)).decode()


def test_parts_of_characters_show_their_bytes() -> None:
    assert decode_bytes(spelled("a😀".encode()[:3])) == "a<0xF0><0x9F>"
    assert decode_bytes(spelled("😀b".encode()[2:])) == "<0x98><0x80>b"


@loop_over(
    ("piece", "style", "shown"),
    [
        ("##ing", "wordpiece", "ing"),
        ("##", "wordpiece", "##"),
        ("Ġthe", "bytes", "the"),
        ("Ġ", "bytes", "␣"),
        ("ĠĠ", "bytes", "␣"),
        ("Ċ", "bytes", "⏎"),
        ("<|endoftext|>", "bytes", "<|endoftext|>"),
        ("▁the", "metaspace", "the"),
        ("▁", "metaspace", "␣"),
        ("<0xF0>", "metaspace", "<0xF0>"),
        ("<0x40>", "metaspace", "@"),
        ("<0x0A>", "metaspace", "⏎"),
        ("<0x20>", "metaspace", "␣"),
        ("<0x07>", "metaspace", "<0x07>"),
        ("<0x40>a", "metaspace", "<0x40>a"),
        ("the</w>", "suffix", "the"),
    ],
)
def test_marks_are_gone(piece: str, style: str, shown: str) -> None:
    assert readable_piece(piece, style) == shown


@pytest.mark.parametrize(
    ("piece", "style", "said"),
    [("##a", "wordpiece", "inside"), ("a", "wordpiece", "start"), ("Ġa", "bytes", "start"), ("a", "bytes", "inside")],
)
def test_roles(piece: str, style: str, said: str) -> None:
    assert role(piece, style) == said
