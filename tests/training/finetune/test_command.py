"""The fine-tuning commands, from input files to a model folder and a JSON file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification

from probing.labelled.labeled_texts import LabeledText, TaggedText
from tests.support import tinymodels
from tests.support.labelledtexts import classified, tagged
from training.__main__ import main
from training.finetune.command import summary


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with a tiny model, a CSV file, a TSV file and a CoNLL file."""
    tinymodels.save(tmp_path / "bert", "bert")
    texts, words = classified(), tagged()
    for name, delimiter in (("mine.csv", ","), ("mine.tsv", "\t")):
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=delimiter)
            writer.writerow(["label", "text"])
            writer.writerows((row.label, row.text) for row in texts.train if isinstance(row, LabeledText))
    lines = [
        "".join(f"{row.text[start:end]}\t{tag}\n" for (start, end), tag in zip(row.words, row.tags, strict=True))
        for row in words.train
        if isinstance(row, TaggedText)
    ]
    (tmp_path / "mine.conll").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def command(folder: Path, name: str, file: str, *more: str) -> int:
    """Run a command with a tiny model and return its exit status."""
    given = ["--model", str(folder / "bert"), "--out", str(folder / "out"), "--json", str(folder / "out.json")]
    train = str(folder / file) if "." in file else file
    return main([name, train, *given, "--threads", "1", "--epochs", "0", *more])


def scores(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("file", ["mine.csv", "mine.tsv"])
def test_classes_of_texts(files: Path, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(files, "classify", file, "--rate", "3e-3") == 0
    found = scores(files)
    assert {"accuracy", "macro_f1", "baseline_accuracy"} <= found["test"].keys()
    assert found["seconds"] > 0
    assert found["rows"] == {"train": 30, "dev": 3, "test": 3}  # The dev and test splits have one row of each class.
    model = AutoModelForSequenceClassification.from_pretrained(files / "out")
    assert set(model.config.id2label.values()) == {"animal", "plant", "star"}
    out = capsys.readouterr().out
    assert "support" in out
    assert f"test: accuracy {found['test']['accuracy']:.3f}" in out


def test_where_counting_words_wins_it_is_said() -> None:
    one = {"precision": 0.5, "recall": 0.5, "f1": 0.5, "support": 2}
    test = {"accuracy": 0.5, "classes": {"a": one}}
    for baseline, said in ({"baseline_accuracy": 0.5}, True), ({"baseline_accuracy": 0.4}, False), ({}, False):
        assert ("as well or better" in summary({"finished": True, "test": test | baseline})) is said


def test_a_run_that_was_stopped_says_how_to_go_on() -> None:
    for finished in (True, False):
        found = summary({"finished": finished, "test": {"accuracy": 0.5, "classes": {}}})
        assert ("the same command goes on" in found) is not finished


@pytest.mark.slow
def test_tags_of_words(files: Path) -> None:
    dev = ("--dev", str(files / "mine.conll"), "--test", str(files / "mine.conll"))
    assert command(files, "tag", "mine.conll", *dev, "--rate", "3e-3") == 0
    found = scores(files)
    assert found["test"]["f1"] == 1.0  # The test rows are the training rows.
    assert {"precision", "recall", "f1"} <= found["test"].keys()
    assert found["test"]["classes"]["PER"]["support"] == 36
    assert AutoModelForTokenClassification.from_pretrained(files / "out").config.id2label[1] == "B-PER"


@pytest.mark.slow
@pytest.mark.parametrize("invisible", ["\u00ad", "\u200b", "\u200e", "\ufe0f"])
def test_a_name_beside_an_invisible_word_is_learned(files: Path, invisible: str) -> None:
    (files / "mine.conll").write_text(f"Ann B-PER\n{invisible} O\nLondon B-LOC\n\n" * 40, encoding="utf-8")
    own = str(files / "mine.conll")
    assert command(files, "tag", "mine.conll", "--dev", own, "--test", own, "--rate", "3e-3") == 0
    classes = scores(files)["test"]["classes"]
    assert {name: (one["f1"], one["support"]) for name, one in classes.items()} == {"LOC": (1.0, 40), "PER": (1.0, 40)}


def test_texts_that_were_cut_are_told() -> None:
    test = {"accuracy": 0.5, "classes": {}}
    found = summary({"finished": True, "test": test, "cut": {"texts": 2, "of": 1000, "length": 64}})
    assert "2 of 1,000 texts are longer than 64 tokens and were cut." in found


@pytest.mark.slow
def test_notes_on_texts_and_rows_are_printed(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lone quotation marks, blank lines and control characters lose no row; cut texts are counted in three places."""
    short = [f'A {" and ".join(["cat"] * 3)} 5" wide, number {at}' for at in range(40)]
    long = "cat " * 60
    lines = [f"{text}\t{at % 2}" for at, text in enumerate([*short, long, "control\x07character"])]
    (files / "mine.tsv").write_bytes("\r\n\r\n".join(["text\tlabel", *lines, ""]).encode())
    assert command(files, "classify", "mine.tsv", "--rate", "3e-3") == 0
    told, found = capsys.readouterr().out, scores(files)
    assert sum(found["rows"].values()) == len(lines)
    assert found["cut"] == {"texts": 1, "of": len(lines), "length": 40}
    assert "tokens: 1 (2.4%)" in told
    assert f"1 of {len(lines)} texts are longer than 40 tokens" in told
    assert "mine.tsv: 1 control character" in told
    assert f"Of {len(lines)} texts that were measured, 1 are longer" in (files / "out" / "README.md").read_text()


@pytest.mark.slow
def test_sentences_that_were_cut_are_counted(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (files / "mine.conll").read_text(encoding="utf-8").rstrip() + "\n\n" + "cat\tO\n" * 60 + "\n"
    (files / "mine.conll").write_text(text, encoding="utf-8")
    assert command(files, "tag", "mine.conll", "--rate", "3e-3") == 0
    cut, told = scores(files)["cut"], capsys.readouterr().out
    assert cut["texts"] == 1
    assert cut["of"] == sum(scores(files)["rows"].values())
    assert f"1 of {cut['of']} texts" in told


@pytest.mark.slow
def test_a_named_encoding_is_used(files: Path) -> None:
    rows = "".join(f"Un café numéro {at}\t{at % 2}\n" for at in range(40))
    (files / "mine.tsv").write_bytes(rows.encode("mac_roman"))
    assert command(files, "classify", "mine.tsv", "--rate", "3e-3", "--encoding", "mac-roman") == 0
    told = (files / "out" / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    assert all(json.loads(row)["text"].startswith("Un café numéro") for row in told)


@pytest.mark.parametrize(
    ("asked", "more", "said"),
    [
        (("classify", "none.csv"), (), "none.csv"),
        (("tag", "mine.csv"), (), "mine.csv"),
        (("classify", "mine.csv"), ("--minutes", "0"), "--minutes = 0"),
        (("classify", "mine.csv"), ("--length", "2"), "--length = 2 will not do: it takes a whole number, at least 8"),
        (("classify", "mine.csv"), ("--frozen", "9"), "bert has 2 layers, so 9 cannot be frozen"),
        (("classify", "wnut-17"), (), "wnut-17 is a set to tag. Write: python -m training tag wnut-17"),
        (("tag", "wnut-17"), ("--dev", "dev.conll"), "has its own dev and test rows. Leave out --dev and --test"),
        (("tag", "mine.conll"), ("--model", "./nowhere"), '"nowhere" is not there'),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(
    files: Path, asked: tuple[str, str], more: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(files, *asked, *more) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not (files / "out.json").exists()
