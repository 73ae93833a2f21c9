"""Words reconstructed from token names only, for three kinds of vocabulary."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from headlight.token_rows import row
from inference.text.tokenizer import SafeTokenizer
from tests.support.cases import loop_over

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
FALLBACK = {
    "café": "caf|é 1/2|é 2/2",
    "é": "é 1/2|é 2/2",
    "a 😀": "a|␣|😀 1/4|😀 2/4|😀 3/4|😀 4/4",
    "a < # @": "a|␣|<|␣|#|␣|@",
    "a\na": "a|⏎|a",
    "天ش": "天 1/3|天 2/3|天 3/3|ش 1/2|ش 2/2",
    "👩\u200d💻": "👩 1/4|👩 2/4|👩 3/4|👩 4/4|<0xE2>|<0x80>|<0x8D>|💻 1/4|💻 2/4|💻 3/4|💻 4/4",
}  # Each text maps to its tokens as shown, without a space before the first.


def with_bytes(family: str) -> PreTrainedTokenizerFast:
    """Return a small tokenizer with byte fallback as in Llama, Gemma or mT5, or with a plain BPE."""
    names = ["<pad>", "</s>", "<unk>", *BYTES, "▁", "a", "c", "f", "ca", "caf"]
    if family == "mt5":
        made = Tokenizer(models.Unigram([(name, -9.0 + len(name) % 6) for name in names], 2, byte_fallback=True))
        made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    else:
        numbers = {name: at for at, name in enumerate(names)}
        made = Tokenizer(models.BPE(numbers, [("c", "a"), ("ca", "f")], byte_fallback=True, unk_token="<unk>"))
        marks = normalizers.Replace(" ", "▁")
        made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), marks]) if family == "llama" else marks
        if family != "plain":
            made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", eos_token="</s>", pad_token="<pad>")


@loop_over("family", ["llama", "gemma", "mt5", "plain"])
@loop_over("text", FALLBACK)
def test_byte_tokens_are_shown_as_their_characters(family: str, text: str) -> None:
    """The app and a notebook show the same tokens for every family's byte tokens."""
    tokenizer = with_bytes(family)
    read = SafeTokenizer(tokenizer, family, "decoder", len(tokenizer)).read(text, None, None).row
    named, (joined, _none) = row(tokenizer.convert_ids_to_tokens(list(read.ids)))
    assert named.pieces == read.pieces
    assert "|".join(read.pieces).removeprefix("␣|") == FALLBACK[text]
    assert joined.strip() == text.replace("\n", "⏎")


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


@loop_over(
    ("given", "said"),
    [
        ({"tokens": "a cat"}, "tokens is a str; give a list"),
        ({"tokens": None}, "tokens is a NoneType"),
        ({"tokens": []}, "a name per token"),
        ({"tokens": [101, 7]}, "convert_ids_to_tokens"),
        ({"tokens": ["a", "b"], "second": 2}, "second=2: .* 1 to 1"),
        ({"tokens": ["a", "b"], "special": [True]}, "1 entries for 2 tokens"),
    ],
)
def test_what_names_no_tokens_is_refused(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        row(**given)


@loop_over(
    ("tokens", "words", "pieces", "text"),
    [
        (["the</w>", "ca", "t</w>", ".</w>"], (0, 1, 1, 2), "the|ca|t|.", "the cat ."),
        (["<s>", "the</w>", "ca", "t</w>", "</s>"], (None, 0, 1, 1, None), "<s>|the|ca|t|</s>", "the cat"),
        (["<s>", "caf", "Ã©</w>", "</s>"], (None, 0, 0, None), "<s>|caf|é|</s>", "café"),
        (["ca@@", "t", "sat@@", "s"], (0, 0, 1, 1), "ca|t|sat|s", "cat sats"),
        (["c", "a", "Ã", "©", " ", "y"], (0, 0, 0, 0, 1, 1), "c|a|é 1/2|é 2/2|␣|y", "caé y"),
        (["Ã", "\xa0", "</s>"], (0, 0, None), "à 1/2|à 2/2|</s>", "à"),
        (["h", "i", " ", "y", "o"], (0, 0, 1, 1, 1), "h|i|␣|y|o", "hi yo"),
        (["caf", "Ã©"], (0, 0), "caf|é", "café"),
        (["caf", "é"], (0, 1), "caf|é", "caf é"),
        (["Ġa", "ĠðŁ", "ĺ", "Ģ"], (0, 1, 1, 1), "a|😀 1–2/4|😀 3/4|😀 4/4", "a 😀"),
    ],
)  # fmt: skip
def test_marks_of_other_vocabularies_join_words(tokens: list[str], words: Any, pieces: str, text: str) -> None:
    made, texts = row(tokens)
    assert (made.words, "|".join(made.pieces), texts) == (words, pieces, (text, None))


@loop_over("mark", ["__fr__", "eng_Latn", "en_XX", ">>fra<<", "<2fr>", "<lang:fr>", "__fra__", "__en_XX__"])
def test_a_language_mark_at_an_end_is_special(mark: str) -> None:
    made, texts = row([mark, "▁the", "▁cat", "</s>"])
    assert (made.words, made.pieces[0], texts[0]) == ((None, 0, 1, None), mark, "the cat")
    assert row(["▁the", "▁cat", "</s>", mark])[0].words == (0, 1, None, None)
    assert row(["</s>", mark, "▁the"])[0].words == (None, None, 0)
    assert row([mark, "a", "</s>", mark, "b"], second=3)[0].words == (None, 0, None, None, 1)


def test_a_word_like_a_language_mark_stays_a_word() -> None:
    assert row(["the", "zh_CN", "locale"])[0].words == (0, 1, 2)
    assert row(["__fr__"])[0].words == (0,)
    assert row(["__init__", "runs"])[0].words == (0, 1)
