"""A shared subword vocabulary of two languages: lossless texts, word boundaries and byte fallback."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from transformers import AutoTokenizer, MarianConfig, PreTrainedTokenizerFast

from inference.text.pieces import style
from inference.text.tokenizer import SafeTokenizer
from tests.support.translationtexts import phrases
from training.translation.data import BYTES, clean, learn_tokenizer

SIZE = 600
TEXTS = (
    "The cat isn't here today.",
    "Le chat n'est pas ici aujourd'hui !",
    "It\u2019s 10:30\u00a0\u2014 (n\u2019est-ce pas\u202f?)",
    "Ünbekannt 猫 🐈!",
    "  two  spaces ",
)


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    texts = [*(clean(text) for pair in phrases() for text in pair), *["Il a 12 ans, n'est-ce pas ?"] * 5]
    return learn_tokenizer(texts, SIZE, 32)


@pytest.mark.parametrize("text", TEXTS)
def test_pieces_make_the_clean_text_again(tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    ids = tokenizer(text)["input_ids"]
    assert ids[-1] == tokenizer.eos_token_id
    assert tokenizer.unk_token_id not in ids
    assert tokenizer.decode(ids, skip_special_tokens=True) == clean(text)
    assert tokenizer(text_target=text)["input_ids"] == ids


def test_its_size_is_what_was_asked_for_and_bytes_are_no_special_tokens(tokenizer: PreTrainedTokenizerFast) -> None:
    assert len(tokenizer) <= SIZE
    assert tokenizer.convert_tokens_to_ids(list(BYTES)) == list(range(3, 259))
    assert tokenizer.all_special_ids == [1, 2, 0]
    assert tokenizer("a <0x41> b")["input_ids"] != tokenizer("a A b")["input_ids"]


def test_words_stay_whole_and_apart(tokenizer: PreTrainedTokenizerFast) -> None:
    pieces = tokenizer.tokenize("My hen isn't here, n'est-ce pas ? 12")
    assert "▁isn'" in pieces
    assert "▁n'" in pieces
    assert pieces[-3:] == ["▁?", "▁1", "2"]
    assert "," in pieces
    assert all(piece.removeprefix("▁").rstrip("'").isalnum() or len(piece.removeprefix("▁")) == 1 for piece in pieces)


def test_transformers_and_the_app_read_the_folder(tokenizer: PreTrainedTokenizerFast, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path)
    MarianConfig(vocab_size=len(tokenizer)).save_pretrained(tmp_path)
    found = AutoTokenizer.from_pretrained(tmp_path)
    assert style(found) == "metaspace"
    reader = SafeTokenizer(found, "farm", "encoder-decoder", len(tokenizer))
    assert not reader.pairs
    for text in TEXTS:
        row = reader.read(text, None, 64).row
        assert row.ids == tuple(tokenizer(text)["input_ids"])
        assert row.words[-1] is None
        assert row == reader.read_target(text).row
        shown = [(span, number) for span, number in zip(row.spans, row.words, strict=True) if span is not None]
        assert all(before <= after for (before, _), (after, _) in pairwise(shown))
        words = [number for _, number in shown if number is not None]
        assert len(words) == len(shown)
        assert words == sorted(words)
    row = reader.read("The cat isn't here today.", None, 64).row
    assert [row.pieces[at] for at in range(3)] == ["The", "cat", "isn'"]
    assert [row.words[at] for at in range(3)] == [0, 1, 2]
    assert row.spans[1] == (4, 7)
