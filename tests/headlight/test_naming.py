"""Words told from the names of tokens alone, as three kinds of vocabulary write them."""

from __future__ import annotations

from typing import Any

import pytest

from headlight.naming import row


@pytest.mark.parametrize(
    ("tokens", "words", "pieces", "text"),
    [
        (["[CLS]", "play", "##ing", ".", "[SEP]"], (None, 0, 0, 1, None), "[CLS] play ing . [SEP]", "playing ."),
        (["<s>", "▁play", "ing", ".", "</s>"], (None, 0, 0, 1, None), "<s> play ing . </s>", "playing."),
        (["Play", "ing", "Ġchess", "<|endoftext|>"], (0, 0, 1, None), "Play ing chess <|endoftext|>", "Playing chess"),
        (["the", "cat"], (0, 1), "the cat", "the cat"),
    ],
)  # fmt: skip
def test_words_and_text(tokens: list[str], words: Any, pieces: str, text: str) -> None:
    made, texts = row(tokens)
    assert (made.words, " ".join(made.pieces), texts) == (words, pieces, (text, None))
    for piece, span, word in zip(made.pieces, made.spans, made.words, strict=True):
        assert word is None or (span is not None and text[slice(*span)] == piece)


def test_two_texts() -> None:
    made, texts = row(["[CLS]", "a", "[SEP]", "b", "##c", "[SEP]"], second=3)
    assert (made.segments, made.words) == ((0, 0, 0, 1, 1, 1), (None, 0, None, 1, 1, None))
    assert texts == ("a", "bc")


def test_which_are_special_may_be_said() -> None:
    assert row(["<go>", "a"], special=["<go>"])[0].special == (True, False)
    assert row(["[CLS]", "a"], special=[False, True])[0].special == (False, True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tokens": "a cat"}, "str came as tokens; give a list"),
        ({"tokens": None}, "NoneType came as tokens"),
        ({"tokens": []}, "a name each"),
        ({"tokens": [101, 7]}, "convert_ids_to_tokens"),
        ({"tokens": ["a", "b"], "second": 2}, "second=2: .* 1 to 1"),
        ({"tokens": ["a", "b"], "special": [True]}, "1 entries for 2 tokens"),
    ],
)
def test_what_names_no_tokens_is_refused(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        row(**given)
