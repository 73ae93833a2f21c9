"""Tokens that may come next, as people read them, and prompts with what was written after them."""

from __future__ import annotations

from pathlib import Path

import pytest

from attention.trace import ModelId
from inference.loading import Loaded
from inference.next_pieces import begun, continued, gained, gains, marked
from inference.tokenise import Reader
from tests.tinymodels import byte_level, unigram, wordpiece

SAVED = {"bytes": byte_level, "metaspace": unigram, "wordpiece": wordpiece}
TEXTS = ["The cat sat", "A small cat\nsat, 23 (it)!", "  le chat  ", "Ünïcode 🙂🙂 naïve — “x”", "the\n\n  animal"]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Loaded]:
    from transformers import AutoTokenizer

    found = {}
    for kind, save in SAVED.items():
        folder: Path = tmp_path_factory.mktemp(kind)
        save(folder)
        reader = Reader(AutoTokenizer.from_pretrained(folder), kind, "decoder", 400)
        found[kind] = Loaded(None, reader, ModelId(kind, None, "decoder", kind), 400, 0, True, False)
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_written_tokens_are_as_if_they_had_been_read(tokenizers: dict[str, Loaded], text: str) -> None:
    loaded = tokenizers["bytes"]
    whole = loaded.reader.read(text, None, None)
    for start in range(1, len(whole.ids)):
        prompt = whole.pick(range(start))
        ends = [span[1] for span in whole.row.spans[:start] if span]
        if whole.row.spans[start] == whole.row.spans[start - 1]:
            continue  # in the middle of a character
        longer, everything = continued(loaded, prompt, text[: max(ends)], whole.ids[start:])
        assert everything == text
        assert longer.row == whole.row


@pytest.mark.parametrize("kind", SAVED)
def test_gains_add_up_to_the_text(tokenizers: dict[str, Loaded], kind: str) -> None:
    loaded = tokenizers[kind]
    ids = [token for token in loaded.reader.read("the cat sat", None, None).ids if not special(loaded, token)]
    text = "".join(gains(loaded, ids[:at], [token])[0] for at, token in enumerate(ids))
    assert text == loaded.reader.text_of(ids) == "the cat sat"


def special(loaded: Loaded, token: int) -> bool:
    return loaded.reader.is_special(token)


def test_special_tokens_gain_nothing_and_belong_to_no_word(tokenizers: dict[str, Loaded]) -> None:
    loaded = tokenizers["bytes"]
    reading = loaded.reader.read("a", None, None)
    longer, text = continued(loaded, reading, "a", (0,))
    assert (text, longer.row.pieces[-1], longer.row.words[-1]) == ("a", "<|endoftext|>", None)
    assert gains(loaded, reading.ids, [0]) == [""]


def test_a_number_without_a_piece_is_shown_as_such(tokenizers: dict[str, Loaded]) -> None:
    loaded = tokenizers["bytes"]
    assert marked(loaded, [399]) == ["[399]"]
    assert gains(loaded, [40], [399]) == [""]


def test_marks(tokenizers: dict[str, Loaded]) -> None:
    for kind, begins in {"bytes": True, "metaspace": True, "wordpiece": False}.items():
        loaded = tokenizers[kind]
        token = next(t for t in loaded.reader.read(" the cat", None, None).ids if not special(loaded, t))
        assert marked(loaded, [token])[0].startswith("␣") == begins
    ids = tokenizers["bytes"].reader.read("a\n", None, None).ids
    assert marked(tokenizers["bytes"], ids) == ["a", "⏎"]
    vocabulary = tokenizers["wordpiece"].reader.tokenizer.get_vocab()
    assert marked(tokenizers["wordpiece"], [vocabulary["##ing"], vocabulary["play"]]) == ["…ing", "play"]


def test_half_characters_do_not_count() -> None:
    assert gained("caf", "caf\ufffd") == ""
    assert gained("caf\ufffd", "café") == "é"
    assert gained("a", "a b") == " b"
    assert gained("a ,", "a,") == "a,"


def test_as_much_of_a_text_as_was_read(tokenizers: dict[str, Loaded]) -> None:
    reader = tokenizers["bytes"].reader
    text = "The cat sat on the mat "
    assert begun(reader.read(text, None, None), text, None) == text
    assert begun(reader.read(text, None, None, 300), text, 300) == text
    assert begun(reader.read(text, None, None, 2), text, 2) == "The cat"
