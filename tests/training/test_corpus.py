"""Tokenised text on disk: equality with direct tokenisation, and exclusion of held-out documents."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from inference.errors import UserError
from tests.support.trainingtexts import Setting, library, setting, write_library, write_start  # noqa: F401  (fixture)
from training import config, corpus
from training.bert import held_out_text, prepare, training_text
from training.corpus import documents, held_out, sentences


@pytest.fixture
def written(tmp_path: Path) -> Path:
    write_start(tmp_path / "start")
    corpus.write(library(), tmp_path / "start" / "tokenizer.json", tmp_path / "corpus")
    return tmp_path


def test_a_corpus_is_what_tokenising_directly_gives(written: Path) -> None:
    read = corpus.read(written / "corpus")
    encoder = Tokenizer.from_file(str(written / "start" / "tokenizer.json"))
    expected = [
        [encoder.encode(sentence, add_special_tokens=False).ids for sentence in sentences(text)]
        for _, text in library()
    ]
    found = [
        [
            read.pieces[read.sentences[sentence] : read.sentences[sentence + 1]].tolist()
            for sentence in range(read.documents[document], read.documents[document + 1])
        ]
        for document in range(len(read.documents) - 1)
    ]
    assert found == expected
    assert corpus.names(written / "corpus") == [name for name, _ in library()]


def test_arrays_are_memory_mapped_and_small(written: Path) -> None:
    read = corpus.read(written / "corpus")
    assert all(isinstance(array, np.memmap) for array in (read.pieces, read.sentences, read.documents))
    assert read.pieces.dtype == np.uint16
    assert not read.pieces.flags.writeable


def test_counts_are_how_often_each_piece_occurs(written: Path) -> None:
    read = corpus.read(written / "corpus")
    assert read.counts.tolist() == [int((read.pieces == piece).sum()) for piece in range(len(read.counts))]


def test_the_file_s_truncation_and_padding_are_switched_off(tmp_path: Path) -> None:
    write_start(tmp_path / "start")
    file = tmp_path / "start" / "tokenizer.json"
    narrow = Tokenizer.from_file(str(file))
    narrow.enable_truncation(4)
    narrow.enable_padding(length=9)
    narrow.save(str(file))
    corpus.write([("one", "the cat sat by the gate"), ("two", "a")], file, tmp_path / "corpus")
    lengths = np.diff(corpus.read(tmp_path / "corpus").sentences)
    assert lengths[0] > 4
    assert lengths[1] == 1


def test_documents_without_a_piece_are_left_out(tmp_path: Path) -> None:
    write_start(tmp_path / "start")
    corpus.write([("full", "a cat."), ("empty", " \n ")], tmp_path / "start" / "tokenizer.json", tmp_path / "corpus")
    assert corpus.names(tmp_path / "corpus") == ["full"]
    assert corpus.facts(tmp_path / "corpus")["documents"] == 1


def test_every_kind_of_file_is_read(tmp_path: Path) -> None:
    write_library(tmp_path / "texts")
    with lzma.open(tmp_path / "texts" / "more.jsonl.xz", "wt", encoding="utf-8") as stream:
        stream.write(json.dumps({"text": "It rains."}) + "\n")
    found = dict(documents(tmp_path / "texts"))
    assert found["more.jsonl.xz#1"] == "It rains."
    assert found["many.jsonl#farm-3"] == library()[3][1]
    assert found["farm-35.txt"] == library()[35][1]
    assert len(found) == 41


@pytest.mark.parametrize("line", ["[]", "{}", '{"text": 3}', "not JSON"])
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "bad.jsonl").write_text('{"text": "fine"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"ine 2 of .*\.jsonl"):
        list(documents(tmp_path / "bad.jsonl"))


def test_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no \.txt"):
        list(documents(tmp_path))
    with pytest.raises(UserError, match="text at"):
        list(documents(tmp_path / "missing"))


def test_held_out_documents_are_never_trained_on(setting: Setting) -> None:  # noqa: F811
    settings = config.read(setting(steps=9))
    prepare(settings, Path(settings.start) / "tokenizer.json")
    trained = set(corpus.names(training_text(settings)))
    held = set(corpus.names(held_out_text(settings, settings.sources[0])))
    assert held
    assert trained
    assert not trained & held
    assert len(trained | held) == 40
    assert held == {name for name in trained | held if held_out(name, 0.25)}


def test_text_is_tokenised_once(setting: Setting) -> None:  # noqa: F811
    settings = config.read(setting(steps=9))
    prepare(settings, Path(settings.start) / "tokenizer.json")
    before = (training_text(settings) / "pieces.bin").stat().st_mtime_ns
    prepare(settings, Path(settings.start) / "tokenizer.json")
    assert (training_text(settings) / "pieces.bin").stat().st_mtime_ns == before
