"""Measured changes of attention maps, compared with transformers' own maps and with zero steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from transformers import AutoModel

from probing import fine_tuning_changes
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText
from tests.support.labelledtexts import FAST, classified, machine, tagged, task
from training.finetune.command import fine_tune
from training.finetune.control import compare, teach_twins
from training.finetune.model_setup import FinetuneStart
from training.finetune.settings import CHARACTERS, FinetuneSettings
from training.finetune.snapshots import Drift, SnapshotRecorder, UnseenSentences, sample_unseen
from training.finetune.trainer import open_start

BOTH = pytest.mark.parametrize("labels", [classified(), tagged()], ids=["classify", "tag"])
FILMED = replace(FAST, filmed=True)


def started(folder: Path, labels: LabeledDataset, kind: str = "bert") -> tuple[FinetuneStart, UnseenSentences]:
    name, where = machine(folder, kind)
    start = open_start(labels, name, FAST, where)
    seen = sample_unseen(labels, start, FAST)
    assert seen is not None
    return start, seen


def compared(folder: Path, labels: LabeledDataset, how: FinetuneSettings = FILMED, model: str = "") -> Path:
    """Fine-tune a tiny model and its controls, and return the folder of the measured changes."""
    name, where = machine(folder)
    asked = (task(labels), model or name, how)
    fine_tune(*asked, folder / "taught", where)
    assert teach_twins(*asked, folder / "twins", where, folder / "taught")
    compare(*asked, folder / "taught", folder / "twins", folder / "changes", where)
    return folder / "changes"


@BOTH
def test_a_model_beside_itself_has_not_moved(tmp_path: Path, labels: LabeledDataset) -> None:
    start, seen = started(tmp_path, labels)
    bits, shown = Drift(SnapshotRecorder(start, seen), len(seen)).measure(start.model)
    assert bits["all"].shape == (12, 2, 3)
    assert not bits["all"].any()
    assert not bits["telling"].any()
    assert len(shown) == seen.shown


@pytest.mark.parametrize(
    ("labels", "kind"),
    [(classified(), "bert"), (tagged(), "bert"), (classified(), "gpt2")],
    ids=["classify", "tag", "decoder"],
)
def test_how_far_it_has_come_is_the_divergence_of_transformers_own_maps(
    tmp_path: Path, labels: LabeledDataset, kind: str
) -> None:
    start, seen = started(tmp_path, labels, kind)
    drift = Drift(SnapshotRecorder(start, seen), 3)
    plain = AutoModel.from_pretrained(tmp_path / kind, attn_implementation="eager")
    maps = []
    for weights in ("before", "after"):
        if weights == "after":
            torch.manual_seed(0)
            with torch.no_grad():
                for weight in start.model.base_model.parameters():
                    weight += 0.3 * torch.randn_like(weight)
            # A model for token classification has no pooler.
            plain.load_state_dict(start.model.base_model.state_dict(), strict=False)
        with torch.no_grad():
            each = [plain(torch.tensor(seen.read.pieces[at])[None].long(), output_attentions=True) for at in range(3)]
        maps.append([torch.stack(one.attentions)[:, 0].numpy() for one in each])
    bits, _ = drift.measure(start.model)
    for at in range(3):
        expected = jensenshannon(maps[0][at], maps[1][at], base=2, axis=-1) ** 2  # (layer, head, row)
        assert expected.max() > 0.01
        np.testing.assert_allclose(bits["all"][at], expected.mean(axis=-1), atol=1e-5)
        row = seen.rows[at]
        if isinstance(row, TaggedText):  # Every word is a single token, after "[CLS]".
            rows = [1 + word for word, tag in enumerate(row.tags) if tag != "O"]
        else:
            rows = [0] if kind == "bert" else [expected.shape[-1] - 1]
        np.testing.assert_allclose(bits["telling"][at], expected[..., rows].mean(axis=-1), atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "said"), [("bert", "the row of A"), ("roberta", "the row of A"), ("gpt2", "the row of the last token")]
)
def test_the_rows_that_tell_are_those_that_the_head_reads(tmp_path: Path, kind: str, said: str) -> None:
    assert SnapshotRecorder(*started(tmp_path, classified(), kind)).row_label("A") == said


def test_it_looks_at_test_rows_that_were_not_taught(tmp_path: Path) -> None:
    labels = classified()
    known = [*labels.test[:10], *labels.test[:10], LabeledText(" ", "plant"), *labels.test[10:]]
    mixed = replace(labels, train=[*labels.train, *labels.test[:10]], test=known)
    start, seen = started(tmp_path, mixed)
    assert sorted(row.text for row in seen.rows) == sorted(row.text for row in labels.test[10:])
    again = sample_unseen(mixed, start, FAST)
    assert again is not None
    assert again.rows == seen.rows
    assert sample_unseen(replace(mixed, test=labels.test[:10]), start, FAST) is None


def test_short_sentences_are_shown_and_come_first(tmp_path: Path) -> None:
    labels = classified()
    rows = [LabeledText(" ".join("c" * size + str(size % 10)), "animal") for size in range(40, 2, -1)]
    start, _ = started(tmp_path, labels)
    seen = sample_unseen(replace(labels, test=rows), start, replace(FAST, length=64))
    assert seen is not None
    assert (len(seen), seen.shown) == (38, 8)
    assert all(seen.read.pieces.lengths[:8] <= 24)
    long = sample_unseen(replace(labels, test=rows[:5]), start, replace(FAST, length=64))
    assert long is not None
    assert (long.shown, len(long.rows[0].text)) == (1, min(len(row.text) for row in rows[:5]))


@pytest.mark.slow
@BOTH
def test_no_step_moves_nothing(tmp_path: Path, labels: LabeledDataset) -> None:
    folder = compared(tmp_path, labels, replace(FILMED, steps=0))
    assert fine_tuning_changes.facts(folder).step == 0
    for who in fine_tuning_changes.WHO:
        for rows in fine_tuning_changes.ROWS:
            assert fine_tuning_changes.bits(folder, who, rows).max() < 1e-5  # Half precision limits the accuracy.


@pytest.mark.slow
@BOTH
def test_all_of_it_is_there_to_be_read(tmp_path: Path, labels: LabeledDataset) -> None:
    folder = compared(tmp_path, labels)
    facts = fine_tuning_changes.facts(folder)
    assert (facts.start, facts.kind, len(facts.sentences)) == ("bert", labels.kind, 12)
    assert facts.telling == ("the row of [CLS]" if labels.kind == "classify" else "the rows of tagged words")
    assert facts.shown_sentences == tuple(range(8))
    for at in facts.shown_sentences:
        names = facts.sentences[at].pieces
        assert names is not None
        assert [names[0], *facts.sentences[at].text.split(), names[-1]] == list(names)
        for side in fine_tuning_changes.SIDES:
            maps = fine_tuning_changes.maps(folder, side, at)
            assert maps.shape == (2, 3, len(names), len(names))
            np.testing.assert_allclose(maps.sum(axis=-1), 1, atol=1e-2)
    each = fine_tuning_changes.load_by_model(folder, "all")
    task_bits = each["task"]
    assert 0 < task_bits.mean() < 1
    assert len({array.tobytes() for array in each.values()}) == 3
    film = fine_tuning_changes.film(folder)
    assert film is not None
    assert film.steps == tuple(range(13))
    np.testing.assert_allclose(film.maps[0], fine_tuning_changes.maps(folder, "before", 0), atol=1e-3)
    kept = film.steps.index(facts.step)
    np.testing.assert_allclose(film.bits["all"][kept], task_bits[:8].mean(axis=0), atol=1e-5)
    assert not list(folder.glob("*.partial"))


@pytest.mark.slow
def test_a_model_from_nothing_is_compared_too(tmp_path: Path) -> None:
    facts = fine_tuning_changes.facts(compared(tmp_path, classified(), replace(FILMED, steps=2), CHARACTERS))
    assert (facts.start, facts.telling) == (CHARACTERS, "the row of [CLS]")


@pytest.mark.slow
def test_nothing_left_to_compare_on_is_said(tmp_path: Path) -> None:
    labels = classified()
    folder = compared(tmp_path, replace(labels, test=labels.train[:5]), replace(FILMED, steps=2))
    assert fine_tuning_changes.is_complete(folder)
    assert fine_tuning_changes.failure_reason(folder).startswith("All test texts are also train texts")
    assert fine_tuning_changes.failure_reason(compared(tmp_path / "other", labels, replace(FILMED, steps=2))) == ""


@pytest.mark.slow
def test_a_model_whose_maps_cannot_be_recorded_is_taught_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_model: object) -> bool:
        raise ValueError("no maps")

    monkeypatch.setattr("training.finetune.snapshots.capture.prepare", broken)
    folder = compared(tmp_path, classified(), replace(FILMED, steps=2))
    assert fine_tuning_changes.failure_reason(folder) == "The maps of bert cannot be recorded in training."
