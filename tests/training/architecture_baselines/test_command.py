"""The command of the architecture baselines: options, reuse of existing runs, and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.repository import ROOT
from training.__main__ import main
from training.architecture_baselines import command, training
from training.jobs import baseline_runs
from training.jobs.baseline_runs import DEEP, DEEP_STEPS, DEEP_TASK


def runs(*options: str) -> list[str]:
    import argparse

    parser = argparse.ArgumentParser()
    command.add(parser.add_subparsers())
    return [ask.name for ask in command.requested_runs(parser.parse_args([baseline_runs.NAME, "--out", "x", *options]))]


def test_all_that_is_recorded_is_what_no_option_means() -> None:
    recorded = baseline_runs.read(ROOT / "assets" / "rivals" / baseline_runs.FILE)
    deep = runs("--task", DEEP_TASK, "--layers", str(DEEP), "--steps", str(DEEP_STEPS))
    assert {run.name for run in recorded.runs} == {*runs(), *deep}
    assert len(recorded.runs) == 3 * (4 * 3 + 4 * 5 + 6)


def test_a_part_is_switched_off_of_the_transformer_alone() -> None:
    assert runs("--task", "order", "--off", "norm", "--seed", "4", "--steps", "9") == ["order-transformer-norm-4-9"]
    assert runs("--task", "order", "--off", "nothing", "--seed", "4", "--model", "lstm") == ["order-lstm-4-800"]


def test_a_run_that_is_there_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "times", lambda: {"lstm": ((2, 1.5),)})
    asked = ["rivals", "--task", "parity", "--model", "lstm", "--off", "nothing", "--seed", "0", "--steps", "2"]
    assert main([*asked, "--out", str(tmp_path)]) == 0
    first = (tmp_path / baseline_runs.FILE).read_text()
    assert json.loads((tmp_path / baseline_runs.PROGRESS).read_text())[0] == 2
    monkeypatch.setattr(training, "run", None)
    assert main([*asked, "--out", str(tmp_path)]) == 0
    assert (tmp_path / baseline_runs.FILE).read_text() == first
    (run,) = baseline_runs.read(tmp_path / baseline_runs.FILE).runs_of("parity", "lstm")
    assert (run.seed, run.steps, run.chance) == (0, 2, 0.5)


def test_what_cannot_be_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["rivals", "--out", str(tmp_path / "file")]) == 2
    assert "Name a folder that can be written" in capsys.readouterr().err
    assert main(["rivals", "--steps", "0", "--out", str(tmp_path)]) == 2
    assert "--steps" in capsys.readouterr().err
