"""The pretraining recipe, end to end, on a tiny corpus."""

from __future__ import annotations

import json
import signal
from itertools import chain, count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from inference.errors import UserError
from tests.support.pausing import stopping
from tests.support.trainingtexts import Setting, setting  # noqa: F401  (fixture)
from training import bert, config, corpus, curves, loop
from training.__main__ import main
from training.bert import training_text
from training.loop import RunBudget


def state(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = torch.load(file.with_suffix("") / "checkpoint.pt", weights_only=True)
    return found


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of steps before which the process sends itself SIGTERM."""
    return stopping(monkeypatch, signal.SIGTERM)


@pytest.mark.slow
def test_loss_falls(setting: Setting) -> None:  # noqa: F811
    file = setting(steps=60, evaluate_steps=30)
    assert main(["pretrain", str(file)]) == 0
    steps = curves.lines(file.with_suffix("") / "metrics.jsonl", "step")
    assert [row["step"] for row in steps] == list(range(2, 61, 2))
    assert steps[-1]["piece_loss"] < steps[0]["piece_loss"] - 0.5
    scores = curves.lines(file.with_suffix("") / "metrics.jsonl", "evaluation")
    assert [score["step"] for score in scores] == [0, 30, 60]
    assert scores[-1]["top1"] > scores[0]["top1"]
    assert scores[-1]["piece_loss"] < scores[0]["piece_loss"]


@pytest.mark.slow
@pytest.mark.parametrize("hold", [0.0, 1.5])
def test_a_resumed_run_is_the_uninterrupted_one_bit_for_bit(setting: Setting, pauses: list[int], hold: float) -> None:  # noqa: F811
    whole, parts = setting("whole", steps=13, hold=hold), setting("parts", steps=13, hold=hold)
    bert.pretrain(config.read(whole))
    pauses += [3, 8]
    for step in (4, 9, 13):
        bert.pretrain(config.read(parts))
        assert state(parts)["progress"][0] == step
    one, other = state(whole), state(parts)
    for part in ("model", "optimiser", "random", "plans"):
        assert equal(one[part], other[part]), part
    assert one["progress"][:2] == other["progress"][:2]


@pytest.mark.slow
def test_a_resumed_run_writes_no_line_twice(setting: Setting, pauses: list[int]) -> None:  # noqa: F811
    file = setting(steps=12)
    pauses += [6]
    bert.pretrain(config.read(file))
    written = file.with_suffix("") / "metrics.jsonl"
    with written.open("a", encoding="utf-8") as stream:  # The extra line simulates a step after the last checkpoint.
        stream.write(json.dumps({"kind": "step", "step": 8}) + "\n")
    bert.pretrain(config.read(file))
    rows = curves.lines(written, "step")
    assert [row["step"] for row in rows] == [2, 4, 6, 8, 10, 12]
    # The mean covers the steps since the run resumed, even if there was a single step.
    piece_losses = [row["piece_loss"] for row in rows]
    assert min(piece_losses) > max(piece_losses) / 1.5


def test_a_finished_run_stays_finished(setting: Setting) -> None:  # noqa: F811
    file = setting(steps=5)
    bert.pretrain(config.read(file))
    before = state(file)
    bert.pretrain(config.read(file))
    assert equal(before["model"], state(file)["model"])


@pytest.mark.slow
def test_a_finished_run_goes_on_at_the_rate_it_is_raised_to(setting: Setting) -> None:  # noqa: F811
    bert.pretrain(config.read(setting(steps=5)))
    with pytest.raises(UserError, match=r"at step 5; .*\[optimiser\]"):
        bert.pretrain(config.read(setting(steps=5)), RunBudget(raise_to=0.5))
    file = setting(steps=9)
    with pytest.raises(UserError, match="raised to 2 of"):
        bert.pretrain(config.read(file), RunBudget(raise_to=2.0))
    before = state(file)
    bert.pretrain(config.read(file), RunBudget(raise_to=0.5, stop_after=0))
    assert state(file)["progress"][0] == 6
    assert state(file)["plans"][-1] == [5, 0.5, 9]
    assert not equal(before["model"], state(file)["model"])
    with pytest.raises(UserError, match="at step 6 of 9; "):
        bert.pretrain(config.read(file), RunBudget(raise_to=0.5))
    bert.pretrain(config.read(file))
    assert state(file)["progress"][0] == 9


@pytest.mark.slow
def test_time_stops_a_run_and_it_can_go_on(setting: Setting) -> None:  # noqa: F811
    file = setting(steps=6)
    bert.pretrain(config.read(file), RunBudget(stop_after=0))
    assert state(file)["progress"][0] == 1
    bert.pretrain(config.read(file))
    assert state(file)["progress"][0] == 6


def test_a_run_by_the_clock_plans_its_last_step_and_says_so(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(loop, "PACE_STEPS", 5)
    file = setting(steps=1_000_000)
    bert.pretrain(config.read(file), RunBudget(finish_in=1e-6))  # The time limit passes before the first plan.
    plans = curves.lines(file.with_suffix("") / "metrics.jsonl", "plan")
    assert [(plan["step"], plan["last"]) for plan in plans] == [(5, 6)]
    assert state(file)["progress"][0] == 6
    assert state(file)["plans"][-1][2] == 6


@pytest.mark.slow
def test_a_plan_that_was_too_short_grows_while_there_is_a_rate_to_go_on_with(
    setting: Setting,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A first step of 10 s, followed by steps of 0.1 s, does not shorten the run for good."""
    clock = chain([0.0, 10.0], count(10.1, 0.1))
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    file = setting(steps=12)
    bert.pretrain(config.read(file), RunBudget(finish_in=0.5, at_most=40))
    assert state(file)["progress"][0] == 40
    assert [plan[2] for plan in state(file)["plans"]] == [12, 17, 32, 40]
    assert all(share > 0 for _, share, _ in state(file)["plans"])


@pytest.mark.slow
def test_attention_that_is_held_moves_less(setting: Setting) -> None:  # noqa: F811
    moved = {}
    for hold in (0.01, 1000.0):
        file = setting(f"hold{hold:.0f}", steps=30, hold=hold)
        bert.pretrain(config.read(file))
        moved[hold] = curves.lines(file.with_suffix("") / "metrics.jsonl", "step")[-1]["hold_loss"]
    assert moved[1000.0] < moved[0.01] / 2


@pytest.mark.slow
def test_bfloat16_trains_too(setting: Setting) -> None:  # noqa: F811
    file = setting(steps=40, precision="bf16")
    bert.pretrain(config.read(file))
    steps = curves.lines(file.with_suffix("") / "metrics.jsonl", "step")
    assert steps[-1]["piece_loss"] < steps[0]["piece_loss"] - 0.4
    assert {value.dtype for value in state(file)["model"].values()} == {torch.float32}


def test_held_out_text_is_not_what_is_read(setting: Setting) -> None:  # noqa: F811
    settings = config.read(setting(steps=9))
    run = bert.prepare_run(settings)
    trained = set(corpus.names(training_text(settings)))
    assert len(run.batches.corpus.documents) - 1 == len(trained)
    held = run.held_out["farm"].corpus
    assert len(held.documents) - 1 == 40 - len(trained)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("size = 3", "size is no setting"),
        ("[loop]\nsped = 3", r"\[loop\] has no setting sped"),
        ("run = ", "cannot be read as TOML"),
    ],
)
def test_a_wrong_configuration_is_refused(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "run.toml"
    file.write_text('run = "r"\nstart = "s"\nsource = []\n' + line, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        config.read(file)


def test_a_refusal_is_one_sentence_on_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, binary = tmp_path / "run.toml", tmp_path / "binary.toml"
    folder.mkdir()
    binary.write_bytes(b"\xff\xfe\x00")
    for command in (["pretrain"], ["translate"]):
        for file, said in (
            (tmp_path / "missing.toml", "cannot be used: No such file"),
            (folder, "cannot be used: Is a directory"),
            (binary, "is not UTF-8 text"),
        ):
            assert main([*command, str(file)]) == 2
            (line,) = capsys.readouterr().err.splitlines()
            assert said in line
            assert "Errno" not in line
