"""Alignment of words and tokens by characters, for all kinds of tokenizers."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import AutoTokenizer

from probing.labelled.labeled_texts import LabeledText, TaggedText
from tests.support import tinymodels
from tests.support.labelledtexts import spaced
from training.finetune.data import GOES_ON, NOTHING, UNREAD, batch, encode_rows

LABELS = ("O", "B-PER", "I-PER")
WORDS = ("the", "cat", "is", "playing", ",", "it", "was", "Ann-Lee", "!")
TAGS = ("O", "O", "O", "O", "O", "O", "O", "B-PER", "O")


@pytest.fixture(params=["wordpiece", "byte_level", "unigram"])
def tokenizer(request: pytest.FixtureRequest, tmp_path: Path) -> object:
    getattr(tinymodels, request.param)(tmp_path)
    found = AutoTokenizer.from_pretrained(tmp_path)
    found.pad_token = found.pad_token or found.eos_token
    return found


def test_each_word_is_carried_by_the_first_piece_that_begins_in_it(tokenizer: object) -> None:
    text, words = " ".join(WORDS), spaced(WORDS)
    (read,) = [encode_rows([TaggedText(text, words, TAGS)], LABELS, tokenizer, 64)]
    assert read.places is not None
    places = read.places[0].tolist()
    assert len(places) == len(WORDS)
    assert sorted(set(places)) == places
    encoding = tokenizer(text, return_offsets_mapping=True)  # type: ignore[operator]
    for (start, end), place in zip(words, places, strict=True):
        first, last = encoding["offset_mapping"][place]
        assert start <= first + (text[first:last] != text[first:last].lstrip()) < end
    assert batch(read, [0], 0).labels[0, places].tolist() == [LABELS.index(tag) for tag in TAGS]
    assert batch(read, [0], 0).label_count == len(WORDS)


def test_chinese_words_without_spaces_are_found_by_their_letters(tmp_path: Path) -> None:
    """A SentencePiece prefix space may claim the first letter of a text."""
    tinymodels.unigram(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    text = "the catsaton the mat"  # Words need no spaces between them.
    words = ((0, 3), (4, 7), (7, 10), (10, 12), (13, 16), (17, 20))
    read = encode_rows([TaggedText(text, words, ("O", "B-PER", "I-PER", "O", "O", "O"))], LABELS, tokenizer, 64)
    assert read.places is not None
    offsets = tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
    for (start, end), place in zip(words, read.places[0].tolist(), strict=True):
        assert place == GOES_ON or start <= offsets[place][0] + (text[offsets[place][0]] == " ") < end


def test_words_that_are_cut_off_are_not_asked_for(tokenizer: object) -> None:
    words = ("cat",) * 9
    read = encode_rows([TaggedText(" ".join(words), spaced(words), ("O",) * 9)], LABELS, tokenizer, 8)
    assert read.places is not None
    places = read.places[0].tolist()
    assert places[0] >= 0
    assert places[-1] == UNREAD
    labels = batch(read, [0], 0).labels
    assert labels.shape == (1, len(read.pieces[0]))
    assert (labels != NOTHING).sum() == sum(place >= 0 for place in places) < 9


def test_a_text_of_which_nothing_is_read_has_a_piece_all_the_same(tmp_path: Path) -> None:
    tinymodels.byte_level(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    tokenizer.pad_token = tokenizer.eos_token
    read = encode_rows([LabeledText("", "a"), LabeledText("cat", "b")], ("a", "b"), tokenizer, 8)
    assert read.pieces[0].tolist() == [tokenizer.pad_token_id]
    assert batch(read, [0, 1], 0).labels.tolist() == [0, 1]


@pytest.mark.parametrize("invisible", ["\u00ad", "\u200b", "\u200e", "\ufe0f", "\x96", "\u2060"])
def test_a_word_without_pieces_keeps_no_tag(invisible: str, tmp_path: Path) -> None:
    """A word that BERT's tokenizer drops has no tag and does not join the names on both sides."""
    tinymodels.wordpiece(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    words = ("cat", invisible, "mat")
    read = encode_rows([TaggedText(" ".join(words), spaced(words), ("B-PER", "O", "O"))], LABELS, tokenizer, 64)
    assert read.places is not None
    assert read.places[0].tolist() == [1, UNREAD, 2]
