"""Fine-tuning batches, which depend only on rows, seed and step and cover every row once per epoch."""

from __future__ import annotations

import numpy as np
import pytest

from training.finetune.data import Encoded, FinetuneBatches, batch
from training.translation.data import texts


def rows(count: int) -> Encoded:
    """Return rows of class ``row``, each with ``row % 11`` tokens (at least one) of id ``row``."""
    pieces = [[row] * max(1, row % 11) for row in range(count)]
    return Encoded(texts(pieces), None, texts([[row] for row in range(count)]), None)


@pytest.mark.parametrize(("count", "size"), [(7, 3), (12, 4), (300, 4)])
def test_a_pass_reads_every_row_once(count: int, size: int) -> None:
    batches = FinetuneBatches(rows(count), 0, size, seed=5)
    for number in range(2):
        read = [batches(number * batches.in_a_pass + step).labels.tolist() for step in range(batches.in_a_pass)]
        assert sorted(label for labels in read for label in labels) == list(range(count))
        assert max(map(len, read)) == size


def test_a_step_hangs_on_the_seed_and_on_nothing_before_it() -> None:
    one, other = FinetuneBatches(rows(50), 0, 4, seed=1), FinetuneBatches(rows(50), 0, 4, seed=1)
    for step in (20, 3, 0):
        other(step)
    assert [one(step).labels.tolist() for step in range(30)] == [other(step).labels.tolist() for step in range(30)]
    assert one(0).labels.tolist() != FinetuneBatches(rows(50), 0, 4, seed=2)(0).labels.tolist()
    assert one(0).labels.tolist() != one(13).labels.tolist()


def test_rows_stand_side_by_side_filled_up_behind() -> None:
    read = batch(rows(4), [3, 1], 9)
    assert read.pieces.tolist() == [[3, 3, 3], [1, 9, 9]]
    assert read.real.tolist() == [[1, 1, 1], [1, 0, 0]]
    assert read.kinds is None
    assert (read.count, read.label_count) == (4, 2)


def test_rows_of_like_length_are_read_together() -> None:
    batches = FinetuneBatches(rows(300), 0, 4, seed=0)
    padded = np.mean([1 - batches(step).real.mean() for step in range(batches.in_a_pass)])
    assert padded < 0.1
