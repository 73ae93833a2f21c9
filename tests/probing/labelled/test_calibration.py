"""Calibration error of confidences, checked by hand and on simulated answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from probing.labelled.evaluation import BINS, AnswerConfidences, answer_confidences, calibration
from probing.labelled.predictions import load_predictions
from tests.support import toldfolders


def drawn(n: int, beyond: float, seed: int) -> AnswerConfidences:
    """Return ``n`` simulated answers whose accuracy is below their confidence by ``beyond``."""
    chance = np.random.default_rng(seed)
    sure = chance.uniform(0.5, 1.0, n)
    return AnswerConfidences(sure, chance.random(n) < sure - beyond, np.arange(n))


def test_by_hand() -> None:
    """Calibration error of two bins: (0.9 + 0.5) / 4."""
    found = calibration(
        AnswerConfidences(np.array([0.95, 0.95, 0.25, 0.25]), np.array([True, False, False, False]), np.arange(4))
    )
    assert found.answers.tolist() == [0, 0, 2, 0, 0, 0, 0, 0, 0, 2]
    np.testing.assert_allclose(found.right[[2, 9]], [0, 0.5])
    np.testing.assert_allclose(found.sure[[2, 9]], [0.25, 0.95])
    assert np.isnan(found.right[[0, 5]]).all()
    assert found.error == pytest.approx(0.35)


def test_certainty_is_in_the_last_bin() -> None:
    found = calibration(AnswerConfidences(np.ones(3), np.ones(3, bool), np.arange(3)))
    assert (found.answers[BINS - 1], found.error, found.low, found.by_chance) == (3, 0, 0, 0)


def test_right_sureness_is_no_more_off_than_chance_and_its_interval_holds_zero() -> None:
    runs = [calibration(drawn(400, 0.0, seed)) for seed in range(10)]
    assert sum(run.low == 0 for run in runs) >= 7
    assert sum(run.error <= run.at_most for run in runs) >= 8
    assert np.mean([run.error for run in runs]) == pytest.approx(np.mean([run.by_chance for run in runs]), rel=0.25)


def test_wrong_sureness_is_told_and_its_interval_holds_what_is_true() -> None:
    runs = [calibration(drawn(400, 0.2, seed)) for seed in range(10)]
    assert all(run.error > run.at_most for run in runs)
    assert sum(run.low <= 0.2 <= run.high for run in runs) >= 8


def test_words_of_one_row_are_drawn_together() -> None:
    """Resampling by row: ten fully correlated words of a row widen the interval."""
    chance = np.random.default_rng(0)
    row, right = np.repeat(np.arange(40), 10), np.repeat(chance.random(40) < 0.6, 10)
    alone = calibration(AnswerConfidences(np.full(400, 0.8), right, np.arange(400)))
    together = calibration(AnswerConfidences(np.full(400, 0.8), right, row))
    assert together.error == pytest.approx(alone.error)
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_the_same_answers_give_the_same_numbers() -> None:
    one, other = (calibration(drawn(60, 0.1, 3)) for _ in range(2))
    assert (one.low, one.high, one.at_most) == (other.low, other.high, other.at_most)


def test_of_tags_those_words_count_that_were_said_to_be_of_a_name(tmp_path: Path) -> None:
    rows = [
        ("a b c", "B-PER O O", "B-PER B-PER O", (0.9, 0.6, 0.99)),
        ("d e", "O O", "O O", (0.9, None)),
        ("f", "B-LOC", "B-PER", (None,)),
        ("g h", "B-LOC I-LOC", "B-LOC B-LOC", (0.7, 0.8)),
    ]
    given = answer_confidences(load_predictions(toldfolders.words(tmp_path, rows)))
    assert given.sure.tolist() == [0.9, 0.6, 0.7, 0.8]
    assert given.right.tolist() == [True, False, True, False]
    assert given.row.tolist() == [0, 0, 3, 3]
