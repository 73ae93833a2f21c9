"""Five hundred Chinese sentences in several vocabularies: labels show a character or name its part."""

from __future__ import annotations

from pathlib import Path

import pytest

from attention.tokens import TokenRow
from inference.text.tokenizer import SafeTokenizer
from tests.support import tinymodels
from tests.support.chinesetexts import sentences

ASSETS = Path(__file__).resolve().parents[3] / "assets" / "models"
LOST = "\ufffd"  # The replacement character for invalid bytes.


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SafeTokenizer]:
    from transformers import AutoTokenizer

    root = tmp_path_factory.mktemp("tokenizers")
    tinymodels.byte_level(root / "GPT-2's kind")
    tinymodels.byte_level(root / "RoBERTa's kind", roberta=True)
    folders = (root / "GPT-2's kind", root / "RoBERTa's kind", *sorted(ASSETS.iterdir()))
    return {
        one.name: SafeTokenizer(AutoTokenizer.from_pretrained(str(one)), one.name, "encoder", 40_000) for one in folders
    }


@pytest.fixture(scope="module")
def rows(readers: dict[str, SafeTokenizer]) -> dict[str, list[TokenRow]]:
    """Return the sentences as rows of tokens, by the name of the reader."""
    return {name: [one.read(text, None, None).row for text in sentences()] for name, one in readers.items()}


def test_the_sentences_are_five_hundred_different_ones_in_chinese() -> None:
    assert len(set(sentences())) == len(sentences()) == 500
    assert len(set("".join(sentences()))) > 1800, "characters"
    assert not any(LOST in text for text in sentences())


@pytest.mark.slow
def test_no_piece_has_lost_its_character(rows: dict[str, list[TokenRow]]) -> None:
    for name, read in rows.items():
        for text, row in zip(sentences(), read, strict=True):
            assert all(row.pieces), (name, text)
            assert LOST not in "".join(row.pieces), (name, text)


@pytest.mark.slow
def test_a_vocabulary_of_bytes_shows_every_character_of_the_sentences(rows: dict[str, list[TokenRow]]) -> None:
    for name in ("GPT-2's kind", "RoBERTa's kind"):
        for text, row in zip(sentences(), rows[name], strict=True):
            pieces = [piece for piece, special in zip(row.pieces, row.special, strict=True) if not special]
            assert not any("<0x" in piece for piece in pieces), (name, text)
            assert {letter for letter in text if not letter.isspace()} <= set("".join(pieces)), (name, text)
