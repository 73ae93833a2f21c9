"""The laws of the twin: only the labels are another's, and the same call gives the same model."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from probing.labelled.rows import Classified, Labels, Tagged
from tests.support.labelledtexts import FAST, classified, machine, tagged, task
from tests.support.pausing import stopping
from training import metrics
from training.finetune.teach import teach
from training.finetune.twin import shuffled, teach_twin
from training.schedule import read

Weights = dict[str, torch.Tensor]
BOTH = pytest.mark.parametrize("labels", [classified(), tagged()], ids=["classify", "tag"])


def both(folder: Path, labels: Labels, steps: int = 12, twin: str = "twin") -> tuple[Weights, Weights]:
    """What a tiny BERT and its twin are in the end."""
    name, where = machine(folder)
    how = replace(FAST, steps=steps)
    if not (folder / "taught").exists():
        teach(task(labels), name, how, folder / "taught", where)
    assert teach_twin(task(labels), name, how, folder / twin, where, folder / "taught")
    return load_file(folder / "taught" / "model.safetensors"), load_file(folder / twin / "model.safetensors")


def same(one: Weights, other: Weights) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def told(rows: Sequence[Classified] | Sequence[Tagged]) -> list[str]:
    return [label for row in rows for label in ([row.label] if isinstance(row, Classified) else row.tags)]


@BOTH
def test_only_the_labels_change_places(labels: Labels) -> None:
    mixed = shuffled(labels, seed=0)
    for part in ("train", "dev"):
        before, after = getattr(labels, part), getattr(mixed, part)
        assert [row.text for row in after] == [row.text for row in before]
        assert Counter(told(after)) == Counter(told(before))
        assert told(after) != told(before)
    assert mixed.test == labels.test
    assert mixed.labels == labels.labels
    assert shuffled(labels, seed=0) == mixed
    assert shuffled(labels, seed=1) != mixed


def test_a_word_tells_nothing_about_its_shuffled_tag() -> None:
    """Names are last in every toy text; among 3,600 shuffled words they are there no more often than elsewhere."""
    labels = tagged()
    many = replace(labels, train=[*labels.train] * 100)
    last = [row.tags[-1] for row in shuffled(many, seed=0).train if isinstance(row, Tagged)]
    words = told(many.train)
    expected = words.count("I-PER") / len(words)
    assert last.count("I-PER") / len(last) == pytest.approx(expected, abs=4 * (expected / len(last)) ** 0.5)


@BOTH
def test_the_twin_of_a_twin_is_the_twin_bit_for_bit(tmp_path: Path, labels: Labels) -> None:
    taught, twin = both(tmp_path, labels)
    _, again = both(tmp_path, labels, twin="again")
    assert same(twin, again)
    assert not same(twin, taught)


def test_what_is_told_nothing_else_learns_what_the_task_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own labels it would be the model itself, so nothing else differs: order, rates, dropout, head."""
    monkeypatch.setattr("training.finetune.twin.shuffled", lambda labels, _seed: labels)
    taught, twin = both(tmp_path, classified())
    assert json.loads((tmp_path / "taught" / "evaluation.json").read_text())["dev"]["step"] == 12
    assert same(twin, taught)


def test_it_stops_at_the_step_that_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.finetune.twin.shuffled", lambda labels, _seed: labels)
    name, where = machine(tmp_path)
    teach(task(classified()), name, FAST, tmp_path / "taught", where)
    found = tmp_path / "taught" / "evaluation.json"
    said = json.loads(found.read_text())
    assert read(said["rates"]).last == 12
    found.write_text(json.dumps(said | {"dev": {"accuracy": 0.5, "step": 5}}))
    assert teach_twin(task(classified()), name, FAST, tmp_path / "twin", where, tmp_path / "taught")
    lines = metrics.lines(tmp_path / "twin" / "run" / "metrics.jsonl", "step")
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5]
    whole = metrics.lines(tmp_path / "taught" / "run" / "metrics.jsonl", "step")[:5]
    assert [(line["loss"], line["share"]) for line in lines] == [(line["loss"], line["share"]) for line in whole]


def test_no_step_leaves_it_as_it_was(tmp_path: Path) -> None:
    assert same(*both(tmp_path, classified(), steps=0))


def test_one_that_was_stopped_goes_on_to_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, whole = both(tmp_path, tagged(), twin="whole")
    pauses = stopping(monkeypatch, signal.SIGTERM)
    pauses += [4]
    name, where = machine(tmp_path)
    asked = (task(tagged()), name, FAST, tmp_path / "parts", where, tmp_path / "taught")
    assert not teach_twin(*asked)
    assert not (tmp_path / "parts" / "model.safetensors").exists()
    assert teach_twin(*asked)
    assert same(whole, load_file(tmp_path / "parts" / "model.safetensors"))
    assert [line["last"] for line in metrics.lines(tmp_path / "parts" / "run" / "metrics.jsonl", "plan")] == [12]
    assert teach_twin(*asked)  # it is there, and nothing is done
