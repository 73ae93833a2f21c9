"""Translation batches: every pair once per epoch, bounded sizes, and reproducibility."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from training.translation.data import TranslationBatches, texts

SIZE = 60


def corpus(seed: int = 3) -> TranslationBatches:
    """Return pairs of one to nine tokens, whose ids equal the pair's number on both sides."""
    random = np.random.default_rng(5)
    rows = [[[number + 1] * int(random.integers(1, 10)) for number in range(90)] for _ in range(2)]
    return TranslationBatches(texts(rows[0]), texts(rows[1]), padding=0, size=SIZE, seed=seed)


def test_a_pass_reads_every_pair_once() -> None:
    batches = corpus()
    for number in range(3):
        first = batches.place(0) if number == 0 else None
        assert first in (None, (0, 0))
        steps = [step for step in range(200) if batches.place(step)[0] == number]
        read = Counter(int(row[0]) for step in steps for row in batches(step).source)
        assert read == Counter(range(1, 91))


@pytest.mark.parametrize("step", [0, 7, 60])
def test_source_and_target_belong_together_and_padding_is_behind(step: int) -> None:
    batch = corpus()(step)
    assert (batch.source[:, 0] == batch.target[:, 0]).all()
    for side in (batch.source, batch.target):
        real = side != 0
        assert (np.diff(real.astype(int), axis=1) <= 0).all()
        assert real.any(axis=0).all()
    assert batch.count == (batch.source != 0).sum() + (batch.target != 0).sum()


def test_no_batch_is_larger_than_allowed_and_little_of_it_is_padding() -> None:
    batches = corpus()
    read = [batches(step) for step in range(40)]
    assert max(batch.source.size + batch.target.size for batch in read) <= SIZE
    assert sum(batch.count for batch in read) > 0.75 * sum(batch.source.size + batch.target.size for batch in read)


def test_a_step_is_the_same_whatever_was_read_before() -> None:
    forwards, alone = corpus(), corpus()
    read = [forwards(step) for step in range(50)]
    for step in (49, 3, 20):
        assert np.array_equal(alone(step).target, read[step].target)
    assert not np.array_equal(corpus(seed=4)(0).target, read[0].target)


def test_passes_come_in_different_orders() -> None:
    batches = corpus()
    second = next(step for step in range(100) if batches.place(step)[0] == 1)
    assert not np.array_equal(batches(0).target, batches(second).target)
