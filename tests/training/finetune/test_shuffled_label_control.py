"""Laws of the shuffled-label controls: only labels change, and results are reproducible."""

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

from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText
from tests.support.labelledtexts import FAST, classified, machine, tagged, task
from tests.support.pausing import stopping
from training import curves
from training.finetune import control
from training.finetune.command import fine_tune
from training.finetune.control import places, shuffle_labels, teach_twins
from training.schedule import read

Weights = dict[str, torch.Tensor]
BOTH = pytest.mark.parametrize("labels", [classified(), tagged()], ids=["classify", "tag"])


def all_of(folder: Path, labels: LabeledDataset, steps: int = 12, twins: str = "twins") -> list[Weights]:
    """Return the final weights of a tiny BERT and of its shuffled-label controls."""
    name, where = machine(folder)
    how = replace(FAST, steps=steps)
    if not (folder / "taught").exists():
        fine_tune(task(labels), name, how, folder / "taught", where)
    assert teach_twins(task(labels), name, how, folder / twins, where, folder / "taught")
    return [weights(place) for place in (folder / "taught", *places(folder / twins))]


def weights(folder: Path) -> Weights:
    return load_file(folder / "model.safetensors")


def same(one: Weights, other: Weights) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def told(rows: Sequence[LabeledText] | Sequence[TaggedText]) -> list[str]:
    return [label for row in rows for label in ([row.label] if isinstance(row, LabeledText) else row.tags)]


@pytest.fixture
def unshuffled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the controls by a single control with the task's own labels."""
    monkeypatch.setattr(control, "shuffle_labels", lambda labels, _seed, _number: labels)
    monkeypatch.setattr(control, "TWINS", 1)


@BOTH
def test_only_the_labels_change_places(labels: LabeledDataset) -> None:
    mixed = shuffle_labels(labels, seed=0)
    for part in ("train", "dev"):
        before, after = getattr(labels, part), getattr(mixed, part)
        assert [row.text for row in after] == [row.text for row in before]
        assert Counter(told(after)) == Counter(told(before))
        assert told(after) != told(before)
    assert mixed.test == labels.test
    assert mixed.labels == labels.labels
    assert shuffle_labels(labels, seed=0) == mixed
    assert shuffle_labels(labels, seed=1) != mixed
    assert shuffle_labels(labels, seed=0, number=1) != mixed


def test_a_word_tells_nothing_about_its_shuffled_tag() -> None:
    """After shuffling, tags do not depend on the position of a word."""
    labels = tagged()
    many = replace(labels, train=[*labels.train] * 100)
    last = [row.tags[-1] for row in shuffle_labels(many, seed=0).train if isinstance(row, TaggedText)]
    words = told(many.train)
    expected = words.count("I-PER") / len(words)
    assert last.count("I-PER") / len(last) == pytest.approx(expected, abs=4 * (expected / len(last)) ** 0.5)


@pytest.mark.slow
@BOTH
def test_the_twin_of_a_twin_is_the_twin_bit_for_bit(tmp_path: Path, labels: LabeledDataset) -> None:
    taught, one, other = all_of(tmp_path, labels)
    _, again, other_again = all_of(tmp_path, labels, twins="again")
    assert same(one, again)
    assert same(other, other_again)
    assert not any(same(*pair) for pair in ((one, taught), (other, taught), (one, other)))


@pytest.mark.slow
@pytest.mark.usefixtures("unshuffled")
def test_one_that_is_told_nothing_else_learns_what_the_task_does(tmp_path: Path) -> None:
    """A control with the task's own labels equals the model: order, learning rates, dropout and head."""
    taught, own = all_of(tmp_path, classified())
    assert json.loads((tmp_path / "taught" / "evaluation.json").read_text())["dev"]["step"] == 12
    assert same(own, taught)


@pytest.mark.slow
@pytest.mark.usefixtures("unshuffled")
def test_it_stops_at_the_step_that_was_kept(tmp_path: Path) -> None:
    name, where = machine(tmp_path)
    fine_tune(task(classified()), name, FAST, tmp_path / "taught", where)
    found = tmp_path / "taught" / "evaluation.json"
    said = json.loads(found.read_text())
    assert read(said["rates"]).last == 12
    found.write_text(json.dumps(said | {"dev": {"accuracy": 0.5, "step": 5}}))
    assert teach_twins(task(classified()), name, FAST, tmp_path / "twins", where, tmp_path / "taught")
    lines = curves.lines(tmp_path / "twins" / "run" / "metrics.jsonl", "step")
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5]
    whole = curves.lines(tmp_path / "taught" / "run" / "metrics.jsonl", "step")[:5]
    assert [(line["loss"], line["share"]) for line in lines] == [(line["loss"], line["share"]) for line in whole]


@pytest.mark.slow
def test_no_step_leaves_them_as_they_were(tmp_path: Path) -> None:
    taught, one, other = all_of(tmp_path, classified(), steps=0)
    assert same(taught, one)
    assert same(taught, other)


@pytest.mark.slow
def test_twins_that_were_stopped_go_on_to_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, *whole = all_of(tmp_path, tagged(), twins="whole")
    pauses = stopping(monkeypatch, signal.SIGTERM)
    name, where = machine(tmp_path)
    parts = tmp_path / "parts"
    asked = (task(tagged()), name, FAST, parts, where, tmp_path / "taught")
    pauses += [4]
    assert not teach_twins(*asked)
    assert [place.exists() for place in places(parts)] == [False, False]
    pauses += [2]  # The second control stops at step 2; the first resumes from step 5.
    assert not teach_twins(*asked)
    assert [place.exists() for place in places(parts)] == [True, False]
    plans = curves.lines(parts / "run" / "metrics.jsonl", "plan")
    assert [(line["last"], line["twin"]) for line in plans] == [(12, 1)]
    assert teach_twins(*asked)
    assert all(same(one, weights(place)) for one, place in zip(whole, places(parts), strict=True))
    assert teach_twins(*asked)  # The controls exist, so nothing is computed.
    assert sorted(found.name for found in parts.iterdir()) == ["0", "1", "run"]
