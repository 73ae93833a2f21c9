"""The command `answer`, from files in SQuAD's format to a model folder, its scores and its answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

from probing.labelled.squad import GoldAnswer, PassageQuestion
from tests.support import tinymodels
from tests.support.squadfiles import letters
from training.__main__ import main
from training.finetune.answer_command import summary
from training.finetune.answering import encode_questions


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with a tiny BERT and files of both versions."""
    tinymodels.save(tmp_path / "bert", "bert")
    for version in (1, 2):
        whole = letters(40, no_answer=version == 2)
        (tmp_path / f"mine{version}.json").write_text(json.dumps(whole), encoding="utf-8")
    return tmp_path


def command(folder: Path, train: str, *more: str) -> int:
    """Run the command with a tiny model and return its exit status."""
    given = ["--model", str(folder / "bert"), "--out", str(folder / "out"), "--json", str(folder / "out.json")]
    return main(["answer", str(folder / train), *given, "--threads", "1", "--epochs", "0", "--rate", "3e-3", *more])


def scores(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("version", [1, 2])
def test_scores_model_and_predictions_are_saved(files: Path, version: int) -> None:
    own = str(files / f"mine{version}.json")
    assert command(files, f"mine{version}.json", "--dev", own, "--test", own) == 0
    found = scores(files)
    assert {"exact_match", "f1", "baseline_f1"} <= found["test"].keys()
    assert found["seconds"] > 0
    assert ("no_answer_f1" in found["test"]) is (version == 2)
    model = AutoModelForQuestionAnswering.from_pretrained(files / "out")
    assert model.config.no_answer is (version == 2)
    tokenizer = AutoTokenizer.from_pretrained(files / "out")
    rows = [json.loads(line) for line in (files / "out" / "predictions.jsonl").read_text().splitlines()]
    assert len(rows) == 40
    assert np.mean([row["f1"] for row in rows]) == pytest.approx(found["test"]["f1"])
    output = model(**tokenizer("a", "b c d", return_tensors="pt"))
    assert output.start_logits.shape == output.end_logits.shape


@pytest.mark.slow
def test_a_file_for_all_parts_is_divided(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(files, "mine1.json") == 0
    rows = scores(files)["rows"]
    assert sum(rows.values()) == 40
    assert all(rows.values())
    assert "mine1.json" in capsys.readouterr().out


def test_broken_files_end_the_command(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "broken.json").write_text("{", encoding="utf-8")
    assert command(files, "broken.json") == 2
    assert command(files, "missing.json") == 2
    assert command(files, "mine1.json", "--length", "8") == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 3
    assert errors[0].startswith("broken.json")


def test_a_baseline_that_wins_is_named() -> None:
    test = {"exact_match": 0.1, "f1": 0.2, "baseline_f1": 0.3}
    assert len(summary({"finished": True, "test": test}).splitlines()) == 2
    assert len(summary({"finished": True, "test": test | {"f1": 0.4}}).splitlines()) == 1
    assert len(summary({"finished": False, "test": test | {"f1": 0.4}}).splitlines()) == 2


def test_windows_carry_the_answer_or_point_at_cls(tmp_path: Path) -> None:
    tinymodels.save(tmp_path / "bert", "bert")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "bert")
    passage = " ".join("abcdefghijklmnopqrst")
    one = PassageQuestion("1", "a", passage, (GoldAnswer("r s", passage.index("r s")),))
    read = encode_questions([one], tokenizer, length=12, stride=2)
    assert len(read.windows) > 2
    carried = 0
    for row in range(len(read.windows)):
        first, last = read.windows.labels[row]
        if (first, last) != (0, 0):
            start, end = read.letters[row][first, 0], read.letters[row][last, 1]
            assert passage[start:end] == "r s"
            carried += 1
    assert carried >= 1
