"""The translation recipe, end to end, on a hundred pairs."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from inference.errors import UserError
from tests.support.translationtexts import Setting, setting  # noqa: F401  (fixture)
from tests.training.test_loop import equal, state
from training import curves, loop
from training.__main__ import main
from training.loop import RunBudget
from training.translation import config, run
from training.translation.data import key


def lines(file: Path, kind: str) -> list[dict[str, Any]]:
    return curves.lines(file.with_suffix("") / "metrics.jsonl", kind)


@pytest.mark.slow
def test_loss_falls_and_translations_come_right(setting: Setting) -> None:  # noqa: F811
    file = setting(steps=120, evaluate_steps=60)
    assert main(["translate", str(file)]) == 0
    steps, scores = lines(file, "step"), lines(file, "evaluation")
    assert [row["step"] for row in steps] == list(range(2, 121, 2))
    assert steps[-1]["piece_loss"] < steps[0]["piece_loss"] - 1.5
    assert [score["step"] for score in scores] == [0, 60, 120]
    assert scores[-1]["piece_loss"] < scores[0]["piece_loss"] - 1.5
    assert scores[-1]["accuracy"] > scores[0]["accuracy"] + 0.3
    assert scores[-1]["bleu"] > scores[0]["bleu"] + 10
    assert {score["sentences"] for score in scores} == {6}
    assert len(lines(file, "alignment")) == len(scores)


@pytest.mark.slow
def test_a_resumed_run_is_the_uninterrupted_one_bit_for_bit(
    setting: Setting,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, parts = setting("whole", steps=15, evaluate_steps=4), setting("parts", steps=15, evaluate_steps=4)
    run.train(config.read(whole))
    stops, plain = [5, 11], loop.step

    def step(going: loop.Run) -> None:
        if going.progress.step in stops:
            stops.remove(going.progress.step)
            os.kill(os.getpid(), signal.SIGTERM)
        plain(going)

    monkeypatch.setattr(loop, "step", step)
    for reached in (6, 12, 15):
        run.train(config.read(parts))
        assert state(parts)["progress"][0] == reached
    one, other = state(whole), state(parts)
    for part in ("model", "optimiser", "random", "plans"):
        assert equal(one[part], other[part]), part
    assert one["progress"][:2] == other["progress"][:2]
    for kind in ("step", "evaluation", "alignment"):
        taken: list[Any] = [[{**row, "seconds": 0} for row in lines(file, kind)] for file in (whole, parts)]
        if kind == "step":  # A line has the mean since the previous line or since the run resumed.
            taken = [[(row["step"], row["pieces"], row["share"]) for row in rows] for rows in taken]
        assert taken[0] == taken[1]


@pytest.mark.slow
def test_the_vocabulary_is_learned_once(setting: Setting) -> None:  # noqa: F811
    file = setting(steps=5)
    run.train(config.read(file), RunBudget(stop_after=0))
    learned = (file.with_suffix("") / "tokenizer" / "tokenizer.json").read_bytes()
    run.train(config.read(file))
    assert (file.with_suffix("") / "tokenizer" / "tokenizer.json").read_bytes() == learned


@pytest.mark.slow
def test_bfloat16_trains_too(setting: Setting) -> None:  # noqa: F811
    file = setting(steps=40, precision="bf16")
    run.train(config.read(file))
    steps = lines(file, "step")
    assert steps[-1]["piece_loss"] < steps[0]["piece_loss"] - 0.5
    assert {value.dtype for value in state(file)["model"].values()} == {torch.float32}


def test_nothing_held_out_is_read(setting: Setting) -> None:  # noqa: F811
    ready = run.prepare_run(config.read(setting(steps=9)))
    read = {
        key(ready.tokenizer.decode(ready.batches.sources[row], skip_special_tokens=True))
        for row in range(len(ready.batches.sources.lengths))
    }
    held = {key(one.source) for one in ready.held_out}
    assert held
    assert read.isdisjoint(held)
    assert len(read | held) == 60  # The sentences are compared without punctuation.


def test_sentences_to_score_come_from_the_whole_list(setting: Setting) -> None:  # noqa: F811
    held = run.prepare_run(config.read(setting(steps=9))).held_out
    some = run.sample_held_out(held, 5)
    assert len(some) == 5
    assert held.index(some[-1]) > len(held) // 2
    assert run.sample_held_out(held, 10_000) == held


def test_without_sacrebleu_it_says_what_to_do(
    setting: Setting,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    assert main(["translate", str(setting(steps=9))]) == 2
    assert "pip install -r requirements-test.txt" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("size = 3", "size is no setting. There are run, pairs, languages"),
        ("[shape]\ndepth = 3", r"\[shape\] has no setting depth"),
        ("[shape]\npositions = 30", r"\[shape\] positions = 30 is too few: .* need 64, the pairs 60"),
        ('[pairs]\nname = "a"', r"\[pairs\] lacks a setting"),
    ],
)
def test_a_wrong_configuration_is_refused(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "run.toml"
    pairs = "" if "[pairs]" in line else '[pairs]\nname = "a"\npath = "a"\nlicence = "a"\nattribution = "a"\n'
    file.write_text(f'run = "r"\n{"" if "[" in line else line}\n{pairs}{line if "[" in line else ""}', encoding="utf-8")
    with pytest.raises(UserError, match=message):
        config.read(file)
