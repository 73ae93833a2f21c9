"""A character tokenizer: round trips, offsets, and loading with transformers."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoTokenizer

from probing.labelled.labeled_texts import TaggedText
from training.finetune.data import encode_rows
from training.finetune.model_setup import POSITIONS, start, tokenizer

TEXTS = ("今天天气很好", "昨天天气不好", "今天 我们 去 ＢＢＣ", "bbc")


def test_every_character_is_a_piece_with_its_place() -> None:
    words = tokenizer(TEXTS)
    text = "天 气ＢC好"
    read = words(text, return_offsets_mapping=True)
    assert words.convert_ids_to_tokens(read["input_ids"])[1:-1] == ["天", "气", "b", "c", "好"]
    assert [text[start:end] for start, end in read["offset_mapping"][1:-1]] == ["天", "气", "Ｂ", "C", "好"]


def test_what_was_seen_once_is_not_known() -> None:
    words = tokenizer(TEXTS)
    assert words.tokenize("昨们天") == ["[UNK]", "[UNK]", "天"]
    assert len(words) == 5 + len({*"今天气好bc"})


def test_it_opens_as_it_was_saved(tmp_path: Path) -> None:
    words = tokenizer(TEXTS)
    words.save_pretrained(tmp_path)
    opened = AutoTokenizer.from_pretrained(tmp_path)
    for text in TEXTS:
        assert opened(text)["input_ids"] == words(text)["input_ids"]
    assert opened.pad_token_id == 0
    assert opened.model_max_length == POSITIONS


def test_the_model_is_drawn_from_the_seed_and_knows_its_tokenizer() -> None:
    one, same, other = (start(TEXTS, "classify", ("a", "b"), seed).model for seed in (0, 0, 1))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), same.parameters(), strict=True))
    assert not torch.equal(one.classifier.weight, other.classifier.weight)
    assert one.get_input_embeddings().num_embeddings == len(tokenizer(TEXTS))


def test_chinese_words_are_carried_by_their_first_characters() -> None:
    words = start(TEXTS, "tag", ("O", "B-X", "I-X"), 0).tokenizer
    row = TaggedText("今天天气很好", ((0, 2), (2, 4), (4, 6)), ("B-X", "I-X", "O"))
    read = encode_rows([row], ("O", "B-X", "I-X"), words, 16)
    assert read.places is not None
    assert read.places[0].tolist() == [1, 3, 5]
