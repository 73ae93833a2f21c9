"""Whether a model is right as often as it is sure: expected calibration error, arXiv:1706.04599.

Answers are put into ten bins by how sure the model was. In each, the mean of its sureness stands beside the share that
is right; the error is their mean distance, each bin counting by its answers.

Few answers differ by chance alone, and distances add up: where sureness is exactly right the error is not 0. So it
stands beside what such a model would show (the consistency test of J. Bröcker, L. A. Smith, 2007,
doi:10.1175/WAF993.1), and its interval is the bootstrap's that knows of the excess (``resampling.py``); the plain
percentiles would never hold 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probing.labelled.predictions import TestPredictions, TextPrediction
from probing.labelled.resampling import DRAWS, SEED, Numbers, interval, redrawn

BINS = 10

Integers = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class AnswerConfidences:
    """Answers one by one, (answer,): how sure the model was, whether it was right, and in which row."""

    sure: Numbers
    right: Bools
    row: Integers


@dataclass(frozen=True, eq=False)
class Calibration:
    """Of every bin, from the least sure, (bin,): answers, their mean sureness and the share that is right (NaN where
    there are none); and the error of all, 0 to 1, with its 95 % interval.

    ``by_chance`` is the mean error of a model whose sureness is exactly right, on answers as sure as these, and
    ``at_most`` what 95 % of such models stay below.
    """

    answers: Integers
    sure: Numbers
    right: Numbers
    error: float
    low: float
    high: float
    by_chance: float
    at_most: float


def answer_confidences(told: TestPredictions) -> AnswerConfidences:
    """What can be right or wrong: every text's class; of tags the words that were said to be of a name.

    Words outside all names are left out: there are so many, and so surely told, that they would hide the others.
    """
    found: list[tuple[float, bool, int]] = []
    for at, row in enumerate(told.rows):
        if isinstance(row, TextPrediction):
            found.append((row.sure, row.hit, at))
        else:
            each = zip(row.shares, row.tags, row.told, strict=True)
            found += [(share, tag == said, at) for share, tag, said in each if share is not None and said != "O"]
    sure, right, rows = zip(*found, strict=True) if found else ((), (), ())
    return AnswerConfidences(np.array(sure, np.float64), np.array(right, bool), np.array(rows, np.intp))


def calibration(given: AnswerConfidences) -> Calibration:
    """Bins, error, interval and chance of some answers; of at least one.

    >>> found = calibration(AnswerConfidences(np.array([0.95, 0.95, 0.65]), np.array([True, True, False]),
    ...     np.arange(3)))
    >>> found.answers[[6, 9]].tolist(), found.right[[6, 9]].tolist(), round(found.error, 3)
    ([1, 2], [0.0, 1.0], 0.25)
    """
    bins = np.minimum((given.sure * BINS).astype(np.intp), BINS - 1)
    count = np.bincount(bins, minlength=BINS)
    some = np.where(count, count, np.nan)
    sure, right = (np.bincount(bins, values, BINS) / some for values in (given.sure, given.right))
    rows = np.zeros((int(given.row.max()) + 1, BINS + 1))  # what each row adds to each bin's distance, and its answers
    np.add.at(rows, (given.row, bins), given.right - given.sure)
    rows[:, BINS] = np.bincount(given.row)
    error = float(_error(rows.sum(axis=0, keepdims=True))[0])
    low, high = interval(error, _error(redrawn(rows[rows[:, BINS] > 0])))
    chance = _error(_by_chance(given.sure, bins))
    return Calibration(count, sure, right, error, low, high, float(chance.mean()), float(np.quantile(chance, 0.95)))


def _error(sums: Numbers) -> Numbers:
    """From each bin's sum of right less sure, and last the number of answers, (draw, bin + 1): the error, (draw,)."""
    error: Numbers = np.abs(sums[:, :BINS]).sum(axis=1) / sums[:, BINS]
    return error


def _by_chance(sure: Numbers, bins: Integers) -> Numbers:
    """The same sums when each answer is right as often as it is sure, drawn again and again, (draw, bin + 1)."""
    chance = np.random.default_rng(SEED)
    sums = np.full((DRAWS, BINS + 1), float(len(sure)))
    for draw in sums:
        draw[:BINS] = np.bincount(bins, (chance.random(len(sure)) < sure) - sure, BINS)
    return sums
