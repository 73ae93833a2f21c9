"""Scores of predictions: span F1, confusion counts, calibration and bootstrap intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from i18n import gettext_lazy
from probing.labelled.labeled_texts import OUTSIDE
from probing.labelled.predictions import TagPrediction, TestPredictions, TextPrediction

Span = tuple[str, int, int]  # (kind, first word, last word + 1)


def spans(tags: Sequence[str]) -> list[Span]:
    """Return the spans of a BIO-tagged sentence, in order.

    >>> spans(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    [('PER', 0, 2), ('LOC', 3, 4), ('LOC', 4, 5)]
    """
    found: list[Span] = []
    for at, tag in enumerate(tags):
        if tag == OUTSIDE:
            continue
        kind = tag[2:]
        if tag[0] == "I" and found and found[-1][0] == kind and found[-1][2] == at:
            found[-1] = (kind, found[-1][1], at + 1)
        else:
            found.append((kind, at, at + 1))
    return found


@dataclass(frozen=True)
class SpanCounts:
    """The numbers of right, predicted and true spans, from which precision, recall and F1 are computed.

    Precision, recall and F1 are 0 if their denominator is 0.
    """

    right: int
    found: int
    true: int

    @property
    def precision(self) -> float:
        """Return the share of the predicted spans that are right, 0 to 1."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Return the share of the true spans that are predicted, 0 to 1."""
        return self.right / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall, 0 to 1.

        >>> SpanCounts(right=1, found=2, true=4).f1
        0.3333333333333333
        """
        return 2 * self.right / (self.found + self.true) if self.right else 0.0


def score(true: Iterable[Sequence[str]], found: Iterable[Sequence[str]]) -> tuple[SpanCounts, dict[str, SpanCounts]]:
    """Count right, predicted and true spans; return the counts over all types, and those of each type.

    ``true`` and ``found`` are the true and predicted tags of each sentence. Raise ValueError if their lengths differ.

    >>> score([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "B-PER"]])[0].f1
    0.5
    """
    # By kind: right, found and true spans.
    counts: tuple[Counter[str], Counter[str], Counter[str]] = (Counter(), Counter(), Counter())
    for wanted, given in zip(true, found, strict=True):
        if len(wanted) != len(given):
            raise ValueError(
                f"A sentence has {len(wanted)} words and {len(given)} tags were found; one each is needed."
            )
        here, there = set(spans(given)), set(spans(wanted))
        for count, some in zip(counts, (here & there, here, there), strict=True):
            count.update(kind for kind, _, _ in some)
    kinds = sorted(counts[1] | counts[2])
    return SpanCounts(*(count.total() for count in counts)), {
        kind: SpanCounts(*(count[kind] for count in counts)) for kind in kinds
    }


Verdict = Literal["", "right", "missed", "wrong"]


@dataclass(frozen=True)
class ComparedWord:
    """A word of a tagged text, with the result of comparing its predicted tag with the true tag.

    ``verdict`` is a result such as "missed". ``label`` describes the span if the word is its first, else it is "".
    """

    verdict: Verdict
    label: str


def compare_words(row: TagPrediction) -> Iterator[ComparedWord]:
    """Yield each word of a sentence with the verdict on its predicted tag.

    A span is right if its type and both ends are right; the words of other spans are "missed" or "wrong".

    >>> row = TagPrediction("a b c d", (), ("B-PER", "I-PER", "O", "B-LOC"), ("B-PER", "O", "B-LOC", "B-LOC"), (), ())
    >>> [(word.verdict, word.label) for word in compare_words(row)]
    [('wrong', 'PER, ends differ'), ('missed', 'missed PER'), ('wrong', 'predicted LOC'), ('right', 'LOC')]
    """
    true, said = _by_word(row.tags), _by_word(row.told)
    before = None
    for at in range(len(row.tags)):
        here = true.get(at), said.get(at)
        verdict = _verdict(*here)
        yield ComparedWord(verdict, _label(*here) if here != before else "")
        before = here


def _by_word(tags: tuple[str, ...]) -> dict[int, Span]:
    """Return the span of each word that is in a span."""
    return {at: span for span in spans(tags) for at in range(span[1], span[2])}


def _verdict(true: Span | None, said: Span | None) -> Verdict:
    if said == true:
        return "right" if true else ""
    return "wrong" if said else "missed"


def _label(true: Span | None, said: Span | None) -> str:
    if said is None:
        return gettext_lazy("missed {true}", true=true[0]) if true else ""
    if true is None:
        return gettext_lazy("predicted {said}", said=said[0])
    if said == true:
        return said[0]
    if said[0] == true[0]:
        return gettext_lazy("{said}, ends differ", said=said[0])
    return gettext_lazy("predicted {said}, true {true}", said=said[0], true=true[0])


SEED = 20261122
DRAWS = 999

Numbers = npt.NDArray[np.float64]


def redrawn(rows: Numbers, draws: int = DRAWS) -> Numbers:
    """Return the column totals of bootstrap samples of the rows, (row, number) -> (draw, number).

    Each sample draws as many rows as ``rows`` has, with replacement. Functions of totals, such as F1, can then be
    computed for each sample. The random seed is fixed.

    >>> redrawn(np.ones((4, 1)), draws=2).tolist()
    [[4.0], [4.0]]
    """
    chance = np.random.default_rng(SEED)
    found = np.zeros((draws, rows.shape[1]))
    for draw in range(draws if len(rows) else 0):
        times = np.bincount(chance.integers(len(rows), size=len(rows)), minlength=len(rows))
        found[draw] = times @ rows
    return found


def interval(value: float, drawn: Numbers) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a statistic between 0 and 1, by the basic bootstrap.

    ``value`` is the observed statistic, and ``drawn`` has its value in each bootstrap sample. The basic interval
    mirrors the samples at the observed value and so corrects their bias (A. C. Davison, D. V. Hinkley, 1997, Bootstrap
    Methods and their Application, chapter 5.2).

    >>> [round(end, 2) for end in interval(0.5, np.linspace(0.5, 0.7, 41))]
    [0.31, 0.49]
    """
    low, high = np.clip(2 * value - np.quantile(drawn, [0.975, 0.025]), 0.0, 1.0).tolist()
    return low, high


Counts = npt.NDArray[np.int64]


def confusion(told: TestPredictions) -> Counts:
    """Return the confusion matrix of test predictions, shape (true label, predicted label).

    It counts texts, or the words of tagged texts.
    """
    found = np.zeros((len(told.labels), len(told.labels)), np.int64)
    pairs = [pair for row in told.rows for pair in row.pairs]
    if pairs:
        np.add.at(found, tuple(np.array(pairs).T), 1)
    return found


def per_label(told: TestPredictions) -> dict[str, SpanCounts]:
    """Return the numbers of right, predicted and true texts by class, or of spans by span type."""
    if told.kind == "tag":
        rows = [row for row in told.rows if isinstance(row, TagPrediction)]
        return score([row.tags for row in rows], [row.told for row in rows])[1]
    counts = confusion(told)
    each = zip(told.labels, counts.diagonal(), counts.sum(axis=0), counts.sum(axis=1), strict=True)
    return {label: SpanCounts(int(right), int(found), int(true)) for label, right, found, true in each}


def f1_interval(told: TestPredictions) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of F1 over the spans of all types (micro F1); sentences are resampled."""
    each = [score([row.tags], [row.told])[0] for row in told.rows if isinstance(row, TagPrediction)]
    counts = np.array([(one.right, one.found + one.true) for one in each], np.float64).reshape(-1, 2)
    return interval(float(_f1(counts.sum(axis=0))), _f1(redrawn(counts)))


def _f1(counts: Numbers) -> Numbers:
    """Return F1 from right spans, and the sum of found and true spans, shape (..., 2)."""
    f1: Numbers = 2 * counts[..., 0] / np.maximum(1.0, counts[..., 1])
    return f1


def most_mistaken(counts: Counts, most: int) -> list[int]:
    """Return the indices of the ``most`` labels with the most errors in a confusion matrix, in increasing order.

    An error counts for the true label and for the predicted label.

    >>> most_mistaken(np.array([[9, 0, 0], [0, 5, 2], [0, 1, 7]]), 2)
    [1, 2]
    """
    mistakes = counts.sum(axis=0) + counts.sum(axis=1) - 2 * counts.diagonal()
    return sorted(np.argsort(-mistakes, kind="stable")[:most].tolist())


def summed_up(counts: Counts, kept: list[int]) -> Counts:
    """Return a confusion matrix of the labels ``kept``, with a last row and column for all other labels.

    >>> summed_up(np.array([[9, 1, 0], [0, 5, 2], [4, 0, 7]]), [1]).tolist()
    [[5, 2], [1, 20]]
    """
    to = np.full(len(counts), len(kept))
    to[kept] = np.arange(len(kept))
    size = len(kept) + (len(kept) < len(counts))
    found = np.zeros((size, size), np.int64)
    np.add.at(found, (to[:, None], to[None, :]), counts)
    return found


BINS = 10

Integers = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class AnswerConfidences:
    """The answers of a model on its test rows, as arrays of shape (answer,).

    ``sure`` is the model's probability of its answer, ``right`` is True if the answer is correct, and ``row`` is the
    index of the test row.
    """

    sure: Numbers
    right: Bools
    row: Integers


@dataclass(frozen=True, eq=False)
class Calibration:
    """A reliability diagram and the expected calibration error: do confidences match accuracies?

    Answers are divided into bins of equal width by their confidence. The arrays have shape (bin,), by increasing
    confidence: number of ``answers``, mean confidence ``sure`` and accuracy ``right`` (NaN for an empty bin).

    ``error`` is the absolute difference between mean confidence and accuracy of a bin, averaged over all answers, from
    0 to 1. Its 95 % interval is ``low`` to ``high``. A perfectly calibrated model also has an error by chance. For the
    same confidences, ``by_chance`` is the mean of that error, and ``at_most`` its 95th percentile.
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
    """Return the confidence and correctness of test predictions, for ``calibration``.

    An answer is the class of a text, or the tag of a word in a predicted span. Words that are predicted to be outside
    of spans are omitted: they are so many, with such high confidence, that they would dominate the result.
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
    """Return the calibration of answers: bins, calibration error with its interval, and error by chance.

    There must be at least one answer.

    >>> found = calibration(AnswerConfidences(np.array([0.95, 0.95, 0.65]), np.array([True, True, False]),
    ...     np.arange(3)))
    >>> found.answers[[6, 9]].tolist(), found.right[[6, 9]].tolist(), round(found.error, 3)
    ([1, 2], [0.0, 1.0], 0.25)
    """
    bins = np.minimum((given.sure * BINS).astype(np.intp), BINS - 1)
    count = np.bincount(bins, minlength=BINS)
    some = np.where(count, count, np.nan)
    sure, right = (np.bincount(bins, values, BINS) / some for values in (given.sure, given.right))
    # Each row's sums of right - sure by bin, and its number of answers.
    rows = np.zeros((int(given.row.max()) + 1, BINS + 1))
    np.add.at(rows, (given.row, bins), given.right - given.sure)
    rows[:, BINS] = np.bincount(given.row)
    error = float(_error(rows.sum(axis=0, keepdims=True))[0])
    low, high = interval(error, _error(redrawn(rows[rows[:, BINS] > 0])))
    chance = _error(_by_chance(given.sure, bins))
    return Calibration(count, sure, right, error, low, high, float(chance.mean()), float(np.quantile(chance, 0.95)))


def _error(sums: Numbers) -> Numbers:
    """Return the calibration error of each draw, (draw, bin + 1) -> (draw,).

    The columns are each bin's sum of right minus sure, and the number of answers.
    """
    error: Numbers = np.abs(sums[:, :BINS]).sum(axis=1) / sums[:, BINS]
    return error


def _by_chance(sure: Numbers, bins: Integers) -> Numbers:
    """Return simulated sums of a perfectly calibrated model, shape (draw, bin + 1), for ``_error``."""
    chance = np.random.default_rng(SEED)
    sums = np.full((DRAWS, BINS + 1), float(len(sure)))
    for draw in sums:
        draw[:BINS] = np.bincount(bins, (chance.random(len(sure)) < sure) - sure, BINS)
    return sums
