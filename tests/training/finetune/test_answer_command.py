"""The command `answer`, from files in SQuAD's format to a model folder, its scores and its answers."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

from inference import LocalBackend
from inference.settings import Settings as Machine
from inference.tasks.answers import AnswerSpans
from probing.labelled.answer_predictions import load_answers
from probing.labelled.files import File
from probing.labelled.loading import TaskFiles
from probing.labelled.squad import GoldAnswer, PassageQuestion, read_questions
from tests.support import tinymodels
from tests.support.labelledtexts import FAST, machine
from tests.support.pausing import stopping
from tests.support.squadfiles import chinese, letters
from training.__main__ import main
from training.finetune.answer_command import summary, teach_answers
from training.finetune.answering import encode_questions
from training.jobs.job import metrics


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


@pytest.mark.slow
def test_a_stopped_run_resumes_to_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = stopping(monkeypatch, signal.SIGINT)
    name, where = machine(tmp_path)
    asked = read_questions(TaskFiles(File("mine.json", json.dumps(letters(40, no_answer=True)).encode())))
    whole = teach_answers(asked, name, FAST, tmp_path / "whole", where)
    pauses += [3, 8]
    for scorings, step in enumerate((4, 9, 12), start=1):
        found = teach_answers(asked, name, FAST, tmp_path / "parts", where)
        assert (found["steps"], found["finished"]) == (step, step == 12)
        assert found["scorings"] == scorings
    both = [load_file(tmp_path / part / "model.safetensors") for part in ("whole", "parts")]
    assert both[0].keys() == both[1].keys()
    assert all(np.array_equal(values, both[1][key]) for key, values in both[0].items())
    assert (found["test"], found["dev"]) == (whole["test"], whole["dev"])
    (baseline,) = metrics(tmp_path / "parts" / "run" / "metrics.jsonl", "baseline")
    assert 0 <= baseline["f1"] <= 1


@pytest.mark.slow
def test_chinese_answers_are_marked_by_letters(tmp_path: Path) -> None:
    own = tmp_path / "zh.json"
    own.write_text(json.dumps(chinese(40), ensure_ascii=False), encoding="utf-8")
    more = ["--model", "characters", "--epochs", "60", "--length", "32", "--threads", "1", "--minutes", "5"]
    files = [
        "--dev",
        str(own),
        "--test",
        str(own),
        "--json",
        str(tmp_path / "out.json"),
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(["answer", str(own), *files, *more]) == 0
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["test"]
    assert found["exact_match"] > 0.9
    for row in load_answers(tmp_path / "out").rows:
        assert row.place is not None
        assert row.asked.passage[slice(*row.place)] == row.said
    backend = LocalBackend(Machine(model_folders=(tmp_path,)))
    question, passage = "安娜住在哪里？", "安娜住在北京。鲍勃住在罗马。"
    best = backend.predict(AnswerSpans(str(tmp_path / "out"), text=question, pair=passage)).spans[0]
    assert passage[slice(*best.letters)] == best.text == "北京"
    saved = AutoTokenizer.from_pretrained(tmp_path / "out")
    model = AutoModelForQuestionAnswering.from_pretrained(tmp_path / "out")
    given = saved(question, passage, return_tensors="pt", return_offsets_mapping=True)
    offsets = given.pop("offset_mapping")[0]
    output = model(**given)
    first, last = int(output.start_logits.argmax()), int(output.end_logits.argmax())
    assert passage[int(offsets[first][0]) : int(offsets[last][1])] == best.text


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
