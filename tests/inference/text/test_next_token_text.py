"""Labels of possible next tokens, and prompts extended by generated tokens."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from attention.trace import ModelId
from inference.loaded_model import LoadedModel
from inference.text.tokenizer import SafeTokenizer, added_text, extend_reading, gains, mark_pieces, text_read
from tests.support.cases import loop_over
from tests.support.tinymodels import byte_level, unigram, wordpiece


def byte_fallback(folder: Path) -> None:
    """Save a tokenizer like that of Llama 2, which encodes unknown characters as bytes."""
    letters = [*"▁abcdefghijklmnopqrstuvwxyzTA.,()!23"]
    merges = [("▁", "t"), ("h", "e"), ("▁t", "he"), ("▁", "c"), ("a", "t"), ("▁c", "at"), ("▁", "s"), ("▁s", "at")]
    pieces = ["<unk>", "<s>", *(f"<0x{byte:02X}>" for byte in range(256)), *letters, *map("".join, merges)]
    vocabulary = {piece: at for at, piece in enumerate(dict.fromkeys(pieces))}
    backend = Tokenizer(models.BPE(vocabulary, merges, byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", bos_token="<s>").save_pretrained(folder)


SAVED = {"bytes": byte_level, "metaspace": unigram, "wordpiece": wordpiece, "fallback": byte_fallback}
IN_BYTES = ["bytes", "fallback"]
TEXTS = ["The cat sat", "A small cat\nsat, 23 (it)!", "  le chat  ", "Ünïcode 🙂🙂 naïve — “x”", "the\n\n  animal",
         "a\ufffd\ufffd b\ufffd", "日本語 the 🙂🙂🙂🙂 cat"]  # fmt: skip


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedModel]:
    found = {}
    for kind, save in SAVED.items():
        folder: Path = tmp_path_factory.mktemp(kind)
        save(folder)
        reader = SafeTokenizer(AutoTokenizer.from_pretrained(folder), kind, "decoder", 400)
        found[kind] = LoadedModel(None, reader, ModelId(kind, None, "decoder", kind), 400, 0, True, False)
    return found


@loop_over("kind", IN_BYTES)
@loop_over("text", TEXTS)
def test_written_tokens_are_as_if_they_had_been_read(tokenizers: dict[str, LoadedModel], kind: str, text: str) -> None:
    loaded = tokenizers[kind]
    whole = loaded.reader.read(text, None, None)
    for start in range(1, len(whole.ids)):
        prompt = whole.pick(range(start))
        ends = [span[1] for span in whole.row.spans[:start] if span]
        if not ends or whole.row.spans[start] == whole.row.spans[start - 1]:
            continue  # The boundary is before or inside a character.
        longer, everything = extend_reading(loaded.reader, prompt, text[: max(ends)], whole.ids[start:])
        assert everything == text
        assert longer.row == whole.row


@pytest.mark.parametrize("kind", SAVED)
def test_gains_add_up_to_the_text(tokenizers: dict[str, LoadedModel], kind: str) -> None:
    loaded = tokenizers[kind]
    ids = [token for token in loaded.reader.read("the cat sat", None, None).ids if not special(loaded, token)]
    text = "".join(gains(loaded.reader, ids[:at], [token])[0] for at, token in enumerate(ids))
    assert text == loaded.reader.text_of(ids) == "the cat sat"


@pytest.mark.parametrize("kind", IN_BYTES)
def test_half_characters_are_gained_when_they_are_whole_or_broken_off(
    tokenizers: dict[str, LoadedModel], kind: str
) -> None:
    loaded = tokenizers[kind]
    prompt = loaded.reader.read("the cat🙂", None, None)
    first, second, *_ = loaded.reader.read("🙂", None, None).ids[-4:]
    [space] = loaded.reader.read("at", None, None).ids[-1:]
    assert gains(loaded.reader, prompt.ids, [first, space, 0]) == ["", loaded.reader.text_of([space]), ""]
    _, text = extend_reading(loaded.reader, prompt, "the cat🙂", (first, second, space))
    assert text == "the cat🙂\ufffd" + loaded.reader.text_of([space])


def special(loaded: LoadedModel, token: int) -> bool:
    return loaded.reader.is_special(token)


def test_special_tokens_gain_nothing_and_belong_to_no_word(tokenizers: dict[str, LoadedModel]) -> None:
    loaded = tokenizers["bytes"]
    reading = loaded.reader.read("a", None, None)
    longer, text = extend_reading(loaded.reader, reading, "a", (0,))
    assert (text, longer.row.pieces[-1], longer.row.words[-1]) == ("a", "<|endoftext|>", None)
    assert gains(loaded.reader, reading.ids, [0]) == [""]


def test_a_number_without_a_piece_is_shown_as_such(tokenizers: dict[str, LoadedModel]) -> None:
    loaded = tokenizers["bytes"]
    assert mark_pieces(loaded.reader, [399]) == ["[399]"]
    assert gains(loaded.reader, [40], [399]) == [""]


def test_marks(tokenizers: dict[str, LoadedModel]) -> None:
    for kind, begins in {"bytes": True, "metaspace": True, "wordpiece": False}.items():
        loaded = tokenizers[kind]
        token = next(t for t in loaded.reader.read(" the cat", None, None).ids if not special(loaded, t))
        assert mark_pieces(loaded.reader, [token])[0].startswith("␣") == begins
    ids = tokenizers["bytes"].reader.read("a\n", None, None).ids
    assert mark_pieces(tokenizers["bytes"].reader, ids) == ["a", "⏎"]
    vocabulary = tokenizers["wordpiece"].reader.tokenizer.get_vocab()
    assert mark_pieces(tokenizers["wordpiece"].reader, [vocabulary["##ing"], vocabulary["play"]]) == ["…ing", "play"]


def test_only_what_is_new_is_gained() -> None:
    assert added_text("a", "a b") == " b"
    assert added_text("a\ufffd", "a\ufffd b") == " b"
    assert added_text("a ,", "a,") == ","


def test_the_last_few_tokens_decide_and_special_ones_are_known_beforehand(
    tokenizers: dict[str, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = tokenizers["bytes"]
    asked: list[int] = []
    known = loaded.reader.is_special

    def noting(token: int) -> bool:
        asked.append(token)
        return known(token)

    monkeypatch.setattr(loaded.reader, "is_special", noting)
    gathered = property(lambda _tokenizer: pytest.fail("gathered anew"))
    monkeypatch.setattr(type(loaded.reader.tokenizer), "all_special_ids", gathered)
    assert gains(loaded.reader, [40] * 1000 + [0] * 3, [40]) == [loaded.reader.text_of([40])]
    assert len(asked) < 20


def test_as_much_of_a_text_as_was_read(tokenizers: dict[str, LoadedModel]) -> None:
    reader = tokenizers["bytes"].reader
    text = "The cat sat on the mat "
    assert text_read(reader.read(text, None, None), text, None) == text
    assert text_read(reader.read(text, None, None, 300), text, 300) == text
    assert text_read(reader.read(text, None, None, 2), text, 2) == "The cat"
