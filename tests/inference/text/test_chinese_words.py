"""Word segmentation of Chinese texts: merged characters, and rows that stay unchanged."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from attention.tokens import TokenRow
from attention.view import View
from inference import EMBEDDED, TraceRequest
from inference.text.words import by_chinese_words, chinese_words, is_chinese, regroup_words
from ui.run.services import get_backend

TEXT = "那只动物没有过马路，因为它太累了。"


def characters(text: str, segment: int = 0) -> TokenRow:
    """Return a row with a token for each character, as BERT splits Chinese."""
    n = len(text)
    return TokenRow(tuple(text), (1,) * n, tuple(range(n)), (segment,) * n, tuple((at, at + 1) for at in range(n)))


def joined(row: TokenRow) -> list[str]:
    """Return the joined tokens of each word."""
    runs: dict[int, str] = {}
    for word, piece in zip(row.words, row.pieces, strict=True):
        if word is not None:
            runs[word] = runs.get(word, "") + piece
    return list(runs.values())


@pytest.mark.slow
def test_pieces_of_a_chinese_word_are_one_word() -> None:
    row = regroup_words(characters(TEXT), (TEXT,))
    assert {"动物", "没有", "马路", "因为"} <= set(joined(row))
    assert "".join(joined(row)) == TEXT
    assert joined(row)[-1] == "。"
    assert len(row) == len(TEXT)


def test_word_numbers_have_no_gaps_and_never_fall() -> None:
    numbers = [word for word in regroup_words(characters(TEXT), (TEXT,)).words if word is not None]
    assert numbers[0] == 0
    assert all(later - earlier in (0, 1) for earlier, later in pairwise(numbers))


def test_another_script_stays_as_it_is() -> None:
    row = TokenRow(("play", "ing"), (1, 2), (0, 0), (0, 0), ((0, 4), (4, 7)))
    assert regroup_words(row, ("playing",)) is row
    assert not is_chinese("Привет, 世".replace("世", ""))


def test_mixed_text_keeps_its_english_words() -> None:
    text = "BERT模型"
    row = TokenRow(("BE", "RT", "模", "型"), (1,) * 4, (0, 0, 1, 2), (0,) * 4, ((0, 2), (2, 4), (4, 5), (5, 6)))
    assert joined(regroup_words(row, (text,))) == ["BERT", "模型"]


def test_special_tokens_and_two_texts() -> None:
    one, two = "马路", "动物"
    row = TokenRow(
        ("[CLS]", "马", "路", "[SEP]", "动", "物", "[SEP]"),
        (1,) * 7,
        (None, 0, 1, None, 0, 1, None),
        (0, 0, 0, 0, 1, 1, 1),
        (None, (0, 1), (1, 2), None, (0, 1), (1, 2), None),
    )
    assert regroup_words(row, (one, two)).words == (None, 0, 0, None, 0, 0, None)


def test_words_of_the_same_characters_side_by_side_are_two() -> None:
    text = "动物动物"
    assert chinese_words(text) == [(0, 2), (2, 4)]
    assert joined(regroup_words(characters(text), (text,))) == ["动物", "动物"]


@pytest.mark.slow
def test_maps_merged_by_words_still_sum_to_one() -> None:
    trace = get_backend().trace(TraceRequest(model=EMBEDDED, text=TEXT))
    words = View(by_chinese_words(trace), words=True)
    pieces = View(trace, words=True)
    assert len(words.queries) < len(pieces.queries)
    np.testing.assert_allclose(words.weights(2, 3).sum(axis=-1), 1.0, atol=1e-5)
