"""Predictions that do not depend on the batch, and tags for words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from probing.labelled.labeled_texts import Kind, TaggedText
from tests.support.labelledtexts import classified, machine, tagged
from training.finetune.data import Encoded, batch, encode_rows
from training.finetune.evaluation import TOKENS_AT_ONCE, answers, batch_by_length, classes, logits, loss, tags
from training.finetune.model_setup import FinetuneStart, open_model
from training.loop import precision

ALONE = 1e-5  # This is the tolerance of a probability under padding.
WHERE = precision("fp32")


def started(folder: Path, architecture: str, kind: Kind) -> tuple[FinetuneStart, Encoded]:
    """Return a tiny model with a new head, and the encoded training rows of its task."""
    labels = classified() if kind == "classify" else tagged()
    name, settings = machine(folder, architecture)
    start = open_model(name, kind, labels.labels, 0, settings)
    return start, encode_rows(labels.train, labels.labels, start.tokenizer, 32)


@pytest.mark.parametrize("kind", ["classify", "tag"])
@pytest.mark.parametrize("architecture", ["bert", "roberta", "deberta", "gpt2", "llama"])
def test_padding_changes_no_answer(tmp_path: Path, architecture: str, kind: Kind) -> None:
    start, rows = started(tmp_path, architecture, kind)
    together = answers(start.model, rows, start.tokenizer.pad_token_id, WHERE)
    lengths = rows.pieces.lengths
    assert lengths.min() < lengths.max()
    for row in range(len(rows)):
        alone = batch(rows, [row], start.tokenizer.pad_token_id)
        with torch.no_grad():
            found = logits(start.model.eval(), alone, WHERE.device).softmax(-1)[0].numpy()
        if rows.places is not None:
            found = found[rows.places[row][rows.places[row] >= 0]]
        assert np.abs(found - together.shares[row]).max() < ALONE


def test_passes_read_every_text_with_little_padding() -> None:
    lengths = np.random.default_rng(0).geometric(0.06, 2_000).clip(3, 64)
    some = list(batch_by_length(lengths))
    assert sorted(np.concatenate(some)) == list(range(len(lengths)))
    padded = [len(each) * lengths[each].max() for each in some]
    assert max(padded) <= TOKENS_AT_ONCE
    assert sum(padded) <= 1.1 * lengths.sum()


def test_a_model_is_left_learning_or_not(tmp_path: Path) -> None:
    start, rows = started(tmp_path, "bert", "classify")
    for learning in (True, False):
        start.model.train(learning)
        answers(start.model, rows, 0, WHERE)
        assert start.model.training is learning


def test_the_loss_is_the_mean_over_what_was_asked(tmp_path: Path) -> None:
    start, rows = started(tmp_path, "bert", "tag")
    start.model.eval()
    said = answers(start.model, rows, 0, WHERE)
    own = [rows.labels[row][(rows.places or rows.labels)[row] >= 0] for row in range(len(rows))]
    right = [shares[np.arange(len(one)), one] for shares, one in zip(said.shares, own, strict=True)]
    assert said.loss == pytest.approx(-np.log(np.concatenate(right)).mean(), rel=1e-4)
    read = batch(rows, [0, 1], 0)
    with torch.no_grad():
        found = float(loss(logits(start.model, read, WHERE.device), read))
    assert found == pytest.approx(-np.log(np.concatenate(right[:2])).mean(), rel=1e-4)


def test_a_batch_without_any_label_teaches_nothing(tmp_path: Path) -> None:
    start, rows = started(tmp_path, "bert", "tag")
    read = batch(rows, [0, 1], 0)
    read.labels[:] = -100
    found = loss(logits(start.model, read, WHERE.device), read)
    found.backward()
    assert float(found.detach()) == 0.0
    assert all(float(p.grad.abs().max()) == 0.0 for p in start.model.parameters() if p.grad is not None)


def test_every_text_has_a_class_and_every_word_a_tag(tmp_path: Path) -> None:
    start, rows = started(tmp_path, "bert", "classify")
    assert set(classes(answers(start.model, rows, 0, WHERE), classified().labels)) <= {"animal", "plant", "star"}
    start, rows = started(tmp_path, "roberta", "tag")
    assert rows.places is not None
    told = tags(answers(start.model, rows, 1, WHERE), rows.places, tagged().labels)
    assert [len(said) for said, _ in told] == [len(row.words) for row in tagged().train if isinstance(row, TaggedText)]
    assert all(share is not None and 1 / 3 <= share <= 1 for _, sure in told for share in sure)
