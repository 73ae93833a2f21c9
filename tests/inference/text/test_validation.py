"""Validation of texts."""

from __future__ import annotations

import pytest

from inference.errors import UserError
from inference.text.encoding import check_text
from tests.support.cases import loop_over

ODD = [
    "👨‍👩‍👧‍👦 family",
    "مرحبا בעולם",
    "ẹ́́ combining",
    "<script>alert(1)</script>",
    "a\u200bb",
    "tab\there",
    "\U0010ffff",
]


@loop_over("text", ODD)
def test_any_language_and_symbol_passes(text: str) -> None:
    assert check_text(text) == text


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u3000"])
def test_empty(text: str) -> None:
    with pytest.raises(UserError, match="is empty"):
        check_text(text)


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x7f", "\x85"])
def test_control_characters(character: str) -> None:
    with pytest.raises(UserError, match=rf"control character U\+{ord(character):04X} at position 3"):
        check_text(f"ab{character}c")


def test_lone_surrogates() -> None:
    with pytest.raises(UserError, match=r"\(U\+D83D\) .* 2"):
        check_text("a\ud83d", "second text")


def test_far_too_long() -> None:
    with pytest.raises(UserError, match=r"11 characters; .* 10"):
        check_text("x" * 11, longest=10)


def test_not_text_at_all() -> None:
    with pytest.raises(UserError, match="not int"):
        check_text(5)  # type: ignore[arg-type]  # Wrong types are refused at run time, too.
