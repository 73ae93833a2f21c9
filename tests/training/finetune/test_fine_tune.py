"""Laws of fine-tuning on toy tasks and tiny models: weights, scores and saved files."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer, pipeline

from inference.errors import UserError
from inference.files import packages
from probing.labelled.data_checks import all_rows, fit
from probing.labelled.evaluation import confusion
from probing.labelled.labeled_texts import LabeledDataset, LabeledText
from probing.labelled.predictions import load_predictions as read
from tests.support.labelledtexts import ANIMALS, FAST, PLANTS, classified, machine, tagged, task
from tests.support.pausing import stopping
from training import curves, loop
from training.finetune import command as teaching
from training.finetune import settings, trainer
from training.finetune.command import fine_tune
from training.finetune.data import encode_rows, sizes
from training.finetune.evaluation import answers
from training.finetune.settings import CHARACTERS, FinetuneSettings
from training.finetune.trainer import FinetuneRun, load_best_weights, prepare_run
from training.loop import precision

WHOLE = replace(FAST, steps=120, batch=12)  # This is enough for perfect scores on a toy task.


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of steps before which the process sends itself SIGINT."""
    return stopping(monkeypatch, signal.SIGINT)


def taught(
    folder: Path, labels: LabeledDataset, how: FinetuneSettings = FAST, out: str = "out", **changes: Any
) -> dict[str, Any]:
    """Fine-tune a tiny BERT on ``labels``, save the model in folder ``out``, and return its scores."""
    name, where = machine(folder, **changes)
    return fine_tune(task(labels), name, how, folder / out, where)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a saved model."""
    return load_file(folder / "model.safetensors")


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def run_of(folder: Path, labels: LabeledDataset, how: FinetuneSettings = FAST) -> FinetuneRun:
    name, where = machine(folder)
    return prepare_run(labels, name, how, folder / "run", where)


@pytest.mark.parametrize("labels", [classified(), tagged()], ids=["classify", "tag"])
def test_zero_steps_change_nothing(tmp_path: Path, labels: LabeledDataset) -> None:
    found = taught(tmp_path, labels, replace(FAST, steps=0))
    start, saved = load_file(tmp_path / "bert" / "model.safetensors"), weights(tmp_path / "out")
    below = {name: value for name, value in saved.items() if name.startswith("bert.")}
    assert below
    assert all(torch.equal(value, start[name.removeprefix("bert.")].half()) for name, value in below.items())
    assert (found["steps"], found["finished"], found["dev"]["step"]) == (0, True, 0)


@pytest.mark.parametrize("labels", [classified(), tagged()], ids=["classify", "tag"])
def test_saving_keeps_no_optimiser_film_or_baseline(
    tmp_path: Path, labels: LabeledDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    export: Any = vars(teaching)["export"]
    kept: list[tuple[int, Any, set[str]]] = []

    def noting(task: Any, run: FinetuneRun, how: FinetuneSettings, folder: Path, *known: Any) -> dict[str, Any]:
        kept.append((len(run.optimiser.state), run.film, set(known[0])))
        found: dict[str, Any] = export(task, run, how, folder, *known)
        return found

    monkeypatch.setattr(teaching, "export", noting)
    found = taught(tmp_path, labels)
    names = {"baseline_accuracy", "baseline_macro_f1"} if labels.kind == "classify" else set()
    [(states, film, counted)] = kept
    assert (states, film, counted) == (0, None, names | ({"baseline_right"} if names else set()))
    assert found["test"].keys() >= names
    assert "baseline_right" not in found["test"]
    if names:
        test, n = found["test"], found["rows"]["test"]
        lead = (test["only_model_right"] - test["only_baseline_right"]) / n
        assert lead == pytest.approx(test["accuracy"] - test["baseline_accuracy"])


@pytest.mark.parametrize("layers", [1, 2])
def test_a_frozen_layer_does_not_move_and_the_others_do(tmp_path: Path, layers: int) -> None:
    run = run_of(tmp_path, classified(), replace(FAST, frozen=layers))
    before = {name: value.clone() for name, value in run.model.state_dict().items()}
    loop.train(run, loop.TO_THE_END)
    moved = {name for name, value in run.model.state_dict().items() if not torch.equal(value, before[name])}
    still = ("bert.embeddings.", *(f"bert.encoder.layer.{layer}." for layer in range(layers)))
    assert not any(name.startswith(still) for name in moved)
    assert moved >= {name for name in before if not name.startswith(still) and not name.endswith("key.bias")}


def test_more_layers_than_there_are_cannot_be_frozen(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has 2 layers, so 3"):
        run_of(tmp_path, classified(), replace(FAST, frozen=3))


@pytest.mark.slow
@pytest.mark.parametrize("labels", [classified(), tagged()], ids=["classify", "tag"])
def test_the_same_seed_gives_the_same_model_bit_for_bit_and_another_one_does_not(
    tmp_path: Path, labels: LabeledDataset
) -> None:
    one, other = taught(tmp_path, labels, out="one"), taught(tmp_path, labels, out="other")
    assert same(weights(tmp_path / "one"), weights(tmp_path / "other"))
    assert one["test"] == other["test"]
    taught(tmp_path, labels, replace(FAST, seed=1), out="third")
    assert not same(weights(tmp_path / "one"), weights(tmp_path / "third"))


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_to_the_same_model_bit_for_bit(tmp_path: Path, pauses: list[int]) -> None:
    whole = taught(tmp_path, tagged(), out="whole")
    pauses += [3, 8]
    for scorings, step in enumerate((4, 9, 12), start=1):
        found = taught(tmp_path, tagged(), out="parts")
        assert (found["steps"], found["finished"]) == (step, step == 12)
        assert found["scorings"] == scorings
        assert (tmp_path / "parts" / "model.safetensors").is_file()
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "parts"))
    assert found["test"] == whole["test"]
    assert found["dev"] == whole["dev"]
    assert not list((tmp_path / "parts" / "run").glob("*.pt"))


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "score"), [(classified(), "accuracy"), (tagged(), "f1")], ids=["classify", "tag"])
def test_a_task_that_can_be_told_wholly_is_learned_wholly(tmp_path: Path, labels: LabeledDataset, score: str) -> None:
    found = taught(tmp_path, labels, WHOLE)
    assert found["test"][score] == 1.0
    assert found["test"]["macro_f1"] == 1.0
    losses = curves.lines(tmp_path / "out" / "run" / "metrics.jsonl", "step")
    assert losses[-1]["loss"] < losses[0]["loss"] / 4


@pytest.mark.slow
def test_other_names_of_the_classes_change_their_names_alone(tmp_path: Path) -> None:
    one = taught(tmp_path, classified(("animal", "plant", "star")), out="one")["test"]
    other = taught(tmp_path, classified(("star", "animal", "plant")), out="other")["test"]
    assert other["confusion"] == one["confusion"]
    assert (one["labels"], other["labels"]) == (["animal", "plant", "star"], ["star", "animal", "plant"])
    assert [*other["classes"].values()] == [*one["classes"].values()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "auto"),
    [(classified(), AutoModelForSequenceClassification), (tagged(), AutoModelForTokenClassification)],
    ids=["classify", "tag"],
)
def test_the_saved_folder_says_what_the_trained_model_says(tmp_path: Path, labels: LabeledDataset, auto: Any) -> None:
    run = run_of(tmp_path, labels, replace(FAST, steps=40))
    loop.train(run, loop.TO_THE_END)
    load_best_weights(run.folder, run.model)
    rows = encode_rows(labels.test, labels.labels, run.tokenizer, run.length)
    before = answers(run.model, rows, run.batches.padding, precision("fp32"))
    found = taught(tmp_path, labels, replace(FAST, steps=40))

    # The plain transformers API loads the model.
    model, said = auto.from_pretrained(tmp_path / "out", output_loading_info=True)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert not said["missing_keys"]
    assert not said["unexpected_keys"]
    assert model.dtype == torch.float32
    assert model.config.id2label == dict(enumerate(labels.labels))
    again = encode_rows(labels.test, labels.labels, tokenizer, run.length)
    after = answers(model, again, run.batches.padding, precision("fp32"))
    stored = [json.loads(line) for line in (tmp_path / "out" / "predictions.jsonl").read_text("utf-8").splitlines()]
    for trained, opened, line in zip(before.shares, after.shares, stored, strict=True):
        assert opened == pytest.approx(trained, abs=2e-3)  # Weights are saved in half precision.
        told = [labels.labels[at] for at in opened.argmax(axis=-1)]
        assert told == [labels.labels[at] for at in trained.argmax(axis=-1)]
        shares = opened[0] if labels.kind == "classify" else opened.max(axis=-1)
        assert line["shares"] == pytest.approx(shares.tolist(), abs=1e-5)
        assert line["said"] == (told[0] if labels.kind == "classify" else told)
    # The matrix is computed from the saved rows.
    assert confusion(read(tmp_path / "out")).tolist() == found["test"]["confusion"]


@pytest.mark.slow
def test_a_saved_folder_is_whole_and_says_nothing_of_this_machine(tmp_path: Path) -> None:
    found = taught(tmp_path, classified())
    folder = tmp_path / "out"
    assert packages.is_intact(folder)
    assert json.loads((folder / "evaluation.json").read_text(encoding="utf-8")) == found
    assert found["weights_sha256"] == packages.sha256(folder / "model.safetensors")
    assert found["recipe"]["batch"] == FAST.batch
    for file in folder.rglob("*"):
        if file.is_file():
            assert str(tmp_path).encode() not in file.read_bytes(), file
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    assert tokenizer["truncation"] is None
    assert tokenizer["padding"] is None
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "toys" in card
    assert "CC0" in card
    assert f"accuracy: {found['test']['accuracy']:.3f}" in card
    assert f"counting words (TF-IDF and logistic regression): {found['test']['baseline_accuracy']:.3f}" in card
    assert "seed 0" in card
    assert f'pipeline("text-classification", "{folder.name}")' in card
    (said,) = pipeline("text-classification", str(folder))("c c 1 4 c")
    assert said["label"] in ("animal", "plant", "star")


def test_numbers_too_large_for_half_precision_are_kept_whole(tmp_path: Path) -> None:
    name, where = machine(tmp_path)
    file = Path(name) / "model.safetensors"
    large = load_file(file)
    large["embeddings.word_embeddings.weight"][7] = 1e5  # The value exceeds the range of half precision.
    from safetensors.torch import save_file

    save_file(large, file, {"format": "pt"})
    fine_tune(task(classified()), name, replace(FAST, steps=0), tmp_path / "out", where)
    saved = weights(tmp_path / "out")["bert.embeddings.word_embeddings.weight"]
    assert saved.dtype == torch.float32
    assert float(saved[7, 0]) == 1e5


@pytest.mark.slow
def test_the_best_weights_by_the_dev_rows_are_what_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With falling dev scores, the first trained weights stay the best, and step 0 is never saved."""
    marks, steps = iter(range(100)), []
    plain = trainer.save_if_better

    def keep(folder: Path, model: Any, reached: trainer.Mark) -> bool:
        steps.append(reached.step)
        return plain(folder, model, replace(reached, score=1 - 0.01 * next(marks)))

    monkeypatch.setattr(trainer, "save_if_better", keep)
    assert taught(tmp_path, classified())["dev"]["step"] == steps[1] < steps[-1]
    start = load_file(tmp_path / "bert" / "model.safetensors")["embeddings.word_embeddings.weight"]
    assert not torch.equal(weights(tmp_path / "out")["bert.embeddings.word_embeddings.weight"], start.half())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "said"), [(classified(), "every text is called animal"), (tagged(), "nothing is tagged")]
)
def test_a_collapse_is_said(
    tmp_path: Path,
    labels: LabeledDataset,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = FinetuneRun.learn

    def learn(run: FinetuneRun) -> loop.StepResult:
        head = run.model.classifier.bias
        with torch.no_grad():
            head.copy_(torch.eye(len(head))[0] * 100)  # The bias makes the first label the only prediction.
        return plain(run)

    monkeypatch.setattr(FinetuneRun, "learn", learn)
    taught(tmp_path, labels)
    assert f"twice running {said}" in capsys.readouterr().out
    rows = curves.lines(tmp_path / "out" / "run" / "metrics.jsonl", "collapse")
    assert {row["only"] for row in rows} == {labels.labels[0]}
    assert [row["step"] for row in rows] == [2]  # Steps 1 and 2 are evaluated; the collapse is recorded once.


@pytest.mark.slow
def test_some_ten_evaluations_are_made_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taught(tmp_path, classified(), replace(FAST, steps=40))
    rows = curves.lines(tmp_path / "out" / "run" / "metrics.jsonl", "evaluation")
    assert [row["step"] for row in rows] == list(range(0, 41, 4))
    out = capsys.readouterr().out
    assert "counting words (TF-IDF and logistic regression): dev accuracy" in out
    assert "step 20 of 40, loss " in out
    assert "minutes left" in out


@pytest.mark.slow
def test_minutes_bound_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "PACE_STEPS", 5)
    short = replace(FAST, steps=1_000_000, minutes=1e-6)
    assert taught(tmp_path, classified(), short)["steps"] == 1  # The measured pace leaves no time for a second step.
    long = replace(FAST, minutes=60.0)
    # The run ends at the configured number of steps.
    assert taught(tmp_path, classified(), long, out="long")["steps"] == 12


@pytest.mark.slow
def test_to_guess_the_pace_uses_up_no_random_number(tmp_path: Path) -> None:
    taught(tmp_path, tagged(), out="all")
    assert taught(tmp_path, tagged(), replace(FAST, minutes=60.0), out="clock")["steps"] == 12
    assert same(weights(tmp_path / "all"), weights(tmp_path / "clock"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["roberta", "gpt2", "llama", "deberta"])
@pytest.mark.parametrize("make", [classified, tagged])
def test_other_architectures_learn_too(tmp_path: Path, kind: str, make: Callable[[], LabeledDataset]) -> None:
    name, where = machine(tmp_path, kind)
    found = fine_tune(task(make()), name, replace(WHOLE, steps=80, rate=1e-2), tmp_path / "out", where)
    losses = curves.lines(tmp_path / "out" / "run" / "metrics.jsonl", "step")
    assert losses[-1]["loss"] < losses[0]["loss"] / 4
    assert found["test"]["macro_f1"] == 1.0


@pytest.mark.slow
def test_a_model_of_characters_needs_no_other(tmp_path: Path) -> None:
    labels = classified()
    how = replace(WHOLE, steps=36, rate=1e-3, batch=None)
    _, where = machine(tmp_path)
    found = fine_tune(task(labels), CHARACTERS, how, tmp_path / "out", where)
    assert found["test"]["accuracy"] == 1.0
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert tokenizer.tokenize("C 17") == ["c", "1", "7"]


@pytest.mark.parametrize(
    ("part", "labels"),
    [
        ("train", replace(classified(), train=[])),
        ("dev", replace(tagged(), dev=[])),
        ("test", replace(tagged(), test=())),
    ],
)
def test_a_part_without_rows_is_refused(tmp_path: Path, part: str, labels: LabeledDataset) -> None:
    with pytest.raises(UserError, match=f"There are no {part} rows"):
        taught(tmp_path, labels)


def test_one_class_alone_is_refused(tmp_path: Path) -> None:
    rows = [LabeledText("a cat", "animal")] * 3
    with pytest.raises(UserError, match="label animal"):
        taught(tmp_path, LabeledDataset("classify", ("animal",), rows, rows, rows))


@pytest.mark.slow
def test_a_folder_that_holds_anything_else_is_left_alone(tmp_path: Path) -> None:
    taught(tmp_path, classified())
    with pytest.raises(UserError, match="finished model"):
        taught(tmp_path, classified())
    with pytest.raises(UserError, match="other things"):
        taught(tmp_path, classified(), out=".")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match=r"file\. Name"):
        taught(tmp_path, classified(), out="file")


@pytest.mark.slow
def test_a_run_goes_on_with_its_own_texts_or_not_at_all(tmp_path: Path, pauses: list[int]) -> None:
    pauses += [3]
    taught(tmp_path, classified())
    with pytest.raises(UserError, match="with rows = "):
        taught(tmp_path, replace(classified(), dev=classified().test))
    with pytest.raises(UserError, match="seed = 0, not 1"):
        taught(tmp_path, classified(), replace(FAST, seed=1))
    assert taught(tmp_path, classified())["steps"] == 12


@pytest.mark.slow
def test_rates_follow_the_size_of_a_model_and_what_it_learns(tmp_path: Path) -> None:
    run = run_of(tmp_path, classified(), replace(FAST, rate=None))
    assert run.learning.rate == 2e-4
    config = run.model.config
    assert settings.rate(config, "tag", fresh=False) == 3e-4
    config.num_hidden_layers = 12
    assert settings.rate(config, "tag", fresh=False) == 2e-4
    config.hidden_size = 768
    assert settings.rate(config, "classify", fresh=False) == 5e-5
    assert settings.rate(config, "classify", fresh=True) == 5e-4


def test_the_toys_are_what_they_say() -> None:
    labels = classified()
    assert len(labels.train) == 36
    for row in (*labels.train, *labels.test):
        assert isinstance(row, LabeledText)
        word = row.text.split()[0]
        assert (row.label == "animal") is (word in ANIMALS)
        assert (row.label == "plant") is (word in PLANTS)


@pytest.mark.slow
def test_texts_that_are_cut_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = classified()
    long = replace(labels, dev=[LabeledText("the fox " * 350, labels.labels[0]), *labels.dev[1:]])
    taught(tmp_path, long, replace(FAST, steps=0))
    length = json.loads((tmp_path / "out" / "run" / "task.json").read_text(encoding="utf-8"))["length"]
    assert f"cut to {length} tokens: 1 (" in capsys.readouterr().out
    scores = json.loads((tmp_path / "out" / "evaluation.json").read_text(encoding="utf-8"))
    assert scores["cut"] == {"texts": 1, "of": len(all_rows(labels)), "length": length}
    assert "1 are longer than" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    taught(tmp_path, labels, replace(FAST, steps=0), "short")
    assert "cut to" not in capsys.readouterr().out


@pytest.mark.parametrize("unknown", [0.2, 0.9])
def test_texts_of_unknown_words_teach_nothing(tmp_path: Path, unknown: float) -> None:
    """Fine-tuning is refused before any output if a third of the tokens are unknown."""
    labels = classified()
    many = int(unknown * len(labels.train))
    chinese = [LabeledText("猫 " * 6, labels.labels[at % 3]) for at in range(many)]
    mixed = replace(labels, train=[*chinese, *labels.train[many:]])
    if unknown < 0.5:
        assert run_of(tmp_path, mixed).progress.step == 0
        return
    with pytest.raises(UserError) as refused:
        run_of(tmp_path, mixed)
    assert refused.value.message == fit(mixed, lambda texts: sizes(tokenizer_of(tmp_path), texts), 24).unreadable
    assert not (tmp_path / "run").exists()


def tokenizer_of(folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(folder / "bert")
