"""Evaluation scores by hand, for a constant model and for a perfect model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.support.trainingtexts import library, write_start
from training import bert, corpus
from training.batches import PretrainingBatch, PretrainingBatches
from training.loop import precision
from training.model import PretrainingOutput, build, vocabulary


@pytest.fixture
def batches(tmp_path: Path) -> PretrainingBatches:
    write_start(tmp_path / "start")
    corpus.write(library(), tmp_path / "start" / "tokenizer.json", tmp_path / "corpus")
    return PretrainingBatches(corpus.read(tmp_path / "corpus"), vocabulary(tmp_path / "start"), 48, 5, seed=1)


def test_a_model_that_answers_by_frequency_scores_as_the_baseline(batches: PretrainingBatches, tmp_path: Path) -> None:
    model, _ = build(tmp_path / "start", 0)
    counts = batches.corpus.counts
    with torch.no_grad():
        head = model.cls.predictions
        head.transform.LayerNorm.weight.zero_()
        # The small term breaks ties in the same order as the baseline.
        head.bias.copy_(torch.from_numpy(counts) * 1.0 - torch.arange(len(counts)) / 1_000)
        model.cls.seq_relationship.weight.zero_()
        model.cls.seq_relationship.bias.copy_(torch.tensor([1.0, 0.0]))  # Every pair is classified as consecutive.
    score = bert.evaluate(model, batches, 23, counts, precision("fp32"))
    assert score.pairs == 20
    assert (score.top1, score.top5) == (score.baseline_top1, score.baseline_top5)
    assert 0 < score.top1 < score.top5 < 1
    follows = sum(int((batches(step, 0.15).random == 0).sum()) for step in range(4))
    assert score.next_sentence == follows / 20
    asked = [batches(step, 0.15).masked for step in range(4)]
    assert score.chosen == sum(len(masked.labels) for masked in asked)
    assert score.masked == sum(int((masked.shown == 0).sum()) for masked in asked)


def test_only_masked_places_count_as_masked(
    batches: PretrainingBatches, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that is correct only at [MASK] tokens, and for every pair of sentences."""

    def perfect(_model: object, batch: PretrainingBatch, _device: object) -> PretrainingOutput:
        masked = batch.masked
        logits = np.zeros((len(masked.labels), len(batches.corpus.counts)), np.float32)
        answers = np.where(masked.shown == 0, masked.labels, (masked.labels + 1) % logits.shape[1])
        logits[np.arange(len(answers)), answers] = 50
        follows = np.eye(2, dtype=np.float32)[batch.random] * 50
        return replace(
            PretrainingOutput(torch.zeros(1), torch.zeros(1), ()),
            logits=torch.from_numpy(logits),
            follows=torch.from_numpy(follows),
        )

    monkeypatch.setattr(bert, "read", perfect)
    model, _ = build(tmp_path / "start", 0)
    score = bert.evaluate(model, batches, 20, batches.corpus.counts, precision("fp32"))
    assert (score.top1, score.next_sentence) == (1.0, 1.0)
    assert score.chosen_top1 == pytest.approx(score.masked / score.chosen)
    assert score.masked < score.chosen
