"""Resumed runs: current settings, complete logs, and the same text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from inference.errors import UserError
from tests.support import translationtexts
from tests.support.trainingtexts import Setting, change, setting  # noqa: F401  (fixture)
from tests.support.translationtexts import setting as pair_setting  # noqa: F401  (fixture)
from tests.training.test_loop import equal, state
from training import bert, config, curves
from training.__main__ import main
from training.bert import held_out_text, training_text
from training.loop import RunBudget
from training.translation import config as translation
from training.translation import run

ONE_STEP = RunBudget(stop_after=0)


def evaluated(file: Path) -> list[int]:
    """Return the steps of a run's evaluations."""
    return [row["step"] for row in curves.lines(file.with_suffix("") / "metrics.jsonl", "evaluation")]


def without(file: Path, *keys: str) -> None:
    """Remove ``keys`` from a JSON file, as in files of earlier versions."""
    said = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({key: value for key, value in said.items() if key not in keys}), encoding="utf-8")


def test_changed_settings_hold_and_what_was_gathered_stays(setting: Setting) -> None:  # noqa: F811
    file = setting(steps=9)
    bert.pretrain(config.read(file), ONE_STEP)
    change(file, "rate = 5e-3", "rate = 3e-4\nweight_decay = 0.5\nbetas = [0.8, 0.95]\nlayer_decay = 0.5")
    going = bert.prepare_run(config.read(file))
    groups = going.optimiser.param_groups
    assert {group["peak"] for group in groups} == {3e-4, 1.5e-4, 0.75e-4}
    assert {group["weight_decay"] for group in groups} == {0.0, 0.5}
    assert {group["betas"] for group in groups} == {(0.8, 0.95)}
    assert going.progress.step == 1
    gathered = state(file)["optimiser"]["state"]
    assert gathered
    assert equal(gathered, going.optimiser.state_dict()["state"])


@pytest.mark.slow
def test_a_changed_rate_is_learned_at(setting: Setting) -> None:  # noqa: F811
    moved = {}
    for rate in ("5e-3", "5e-7"):
        file = setting(f"rate{rate}", steps=9)
        bert.pretrain(config.read(file), ONE_STEP)
        before = state(file)["model"]
        bert.pretrain(config.read(change(file, "rate = 5e-3", f"rate = {rate}")), ONE_STEP)
        after = state(file)["model"]
        moved[rate] = max(float((after[name] - before[name]).abs().max()) for name in after)
    assert moved["5e-7"] < moved["5e-3"] / 1_000


@pytest.mark.slow
def test_the_last_evaluation_stays_whatever_is_asked_next(setting: Setting) -> None:  # noqa: F811
    file = setting(steps=6, evaluate_steps=4)
    bert.pretrain(config.read(file))
    assert evaluated(file) == [0, 4, 6]
    with pytest.raises(UserError, match=r"\[optimiser\] steps"):
        bert.pretrain(config.read(file), RunBudget(raise_to=0.5))
    assert evaluated(file) == [0, 4, 6]
    bert.pretrain(config.read(file))  # The run is complete, so nothing is written again.
    assert evaluated(file) == [0, 4, 6]
    bert.pretrain(config.read(setting(steps=9, evaluate_steps=4)), RunBudget(raise_to=0.5))
    assert evaluated(file) == [0, 4, 6, 8, 9]


def test_a_last_evaluation_that_was_cut_off_is_made_again(
    setting: Setting,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = setting(steps=6, evaluate_steps=4)
    whole = bert.PretrainingRun.assess

    def cut_off(going: bert.PretrainingRun) -> None:
        if going.progress.step == 6:
            going.metrics.write("evaluation", step=6, pieces=0)
            raise KeyboardInterrupt
        whole(going)

    monkeypatch.setattr(bert.PretrainingRun, "assess", cut_off)
    with pytest.raises(KeyboardInterrupt):
        bert.pretrain(config.read(file))
    assert state(file)["progress"][0] == 6
    monkeypatch.setattr(bert.PretrainingRun, "assess", whole)
    bert.pretrain(config.read(file))
    assert evaluated(file) == [0, 4, 6]
    assert "source" in curves.lines(file.with_suffix("") / "metrics.jsonl", "evaluation")[-1]


def test_a_finished_run_has_nothing_to_finish(setting: Setting, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    file = setting(steps=5)
    bert.pretrain(config.read(file))
    assert main(["pretrain", str(file), "--finish-in", "3"]) == 2
    assert capsys.readouterr().err == "The run ended at step 5, so --finish-in asks nothing: add --raise-to SHARE.\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "held_out = 0.25",
            "held_out = 0.5",
            r"made with held_out = 0\.25, not 0\.5\. Set it back, or name another run",
        ),
        ('name = "farm"', 'name = "barn"', r'made with sources = \{"farm": "texts"\}, not \{"barn": "texts"\}'),
        ('path = "texts"', 'path = "many.jsonl"', r'not \{"farm": "many\.jsonl"\}'),
        ('start = "start"', 'start = "other"', "made with tokenizer = "),
    ],
)
def test_another_text_is_refused(setting: Setting, old: str, new: str, message: str) -> None:  # noqa: F811
    file = setting(steps=9)
    bert.pretrain(config.read(file), ONE_STEP)
    other = file.with_name("other")
    other.mkdir()
    for name in ("config.json", "tokenizer.json"):
        text = (file.with_name("start") / name).read_text(encoding="utf-8")
        (other / name).write_text(text + "\n", encoding="utf-8")
    written = sorted((file.with_suffix("") / "corpus").iterdir())
    change(file, old, new)
    with pytest.raises(UserError, match=message):
        bert.prepare_run(config.read(file))
    assert main(["export", str(file), str(file.with_name("model"))]) == 2
    assert not file.with_name("model").exists()
    assert sorted((file.with_suffix("") / "corpus").iterdir()) == written


def test_a_text_that_was_moved_is_the_same_text(setting: Setting) -> None:  # noqa: F811
    file = setting(steps=9)
    bert.pretrain(config.read(file), ONE_STEP)
    change(file, 'path = "texts"', 'path = "elsewhere/texts"')
    assert bert.prepare_run(config.read(file)).progress.step == 1


def test_a_run_from_before_texts_were_stated_opens(setting: Setting) -> None:  # noqa: F811
    file = setting(steps=9)
    settings = config.read(file)
    bert.pretrain(settings, ONE_STEP)
    for folder in (training_text(settings), held_out_text(settings, settings.sources[0])):
        without(folder / "corpus.json", "held_out", "sources")
    assert bert.prepare_run(settings).progress.step == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("held_out = 0.2", "held_out = 0.1", r"made with held_out = 0\.2, not 0\.1"),
        ("vocabulary = 500", "vocabulary = 400", "made with vocabulary = 500, not 400"),
        ("pairs.tsv.xz", "more.tsv", "made with pairs = "),
    ],
)
def test_other_pairs_are_refused(pair_setting: translationtexts.Setting, old: str, new: str, message: str) -> None:  # noqa: F811
    file = pair_setting(steps=9)
    run.train(translation.read(file), ONE_STEP)
    rows = [f"{source}\t{target}\n" for source, target in translationtexts.phrases()[:100]]
    file.with_name("more.tsv").write_text("".join(rows), encoding="utf-8")
    change(file, old, new)
    with pytest.raises(UserError, match=message):
        run.prepare_run(translation.read(file))
    assert main(["export-translator", str(file), str(file.with_name("model"))]) == 2
    (file.with_suffix("") / "text.json").unlink()  # Earlier versions wrote no such file.
    assert run.prepare_run(translation.read(file)).progress.step == 1


def test_pairs_that_all_are_too_long_are_refused(pair_setting: translationtexts.Setting) -> None:  # noqa: F811
    file = change(pair_setting(steps=9), "longest = 24", "longest = 2")
    with pytest.raises(UserError, match="at most 2 pieces"):
        run.prepare_run(translation.read(file))


@pytest.mark.slow
def test_a_damaged_checkpoint_is_refused(setting: Setting, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    file = setting(steps=9)
    bert.pretrain(config.read(file), ONE_STEP)
    saved = file.with_suffix("") / "checkpoint.pt"
    whole, others = saved.read_bytes(), [3, {}, {**state(file), "progress": None}, {**state(file), "optimiser": {}}]
    for content in (b"", b"junk", whole[: len(whole) // 2], whole.replace(b"optimiser", b"optimizer")):
        saved.write_bytes(content)
        assert main(["pretrain", str(file)]) == 2
        assert capsys.readouterr().err.startswith(f"{saved} is damaged. Put a copy in its place, or remove it")
    for other in others:
        torch.save(other, saved)
        assert main(["pretrain", str(file)]) == 2
        assert "checkpoint.pt is damaged" in capsys.readouterr().err


@pytest.mark.slow
def test_a_checkpoint_of_another_size_is_refused(
    pair_setting: translationtexts.Setting,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = pair_setting(steps=9)
    run.train(translation.read(file), ONE_STEP)
    change(file, "inner = 40", "inner = 41")
    for command in (["translate", str(file)], ["export-translator", str(file), str(file.with_name("model"))]):
        assert main(command) == 2
        assert "holds a model of another size than the configuration asks for" in capsys.readouterr().err
