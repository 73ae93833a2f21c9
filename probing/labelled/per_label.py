"""How well each class was told, or each kind of name found, as counts; and what was taken for what."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from probing.labelled.predictions import TagPrediction, TestPredictions
from probing.labelled.resampling import Numbers, interval, redrawn
from probing.labelled.spans import SpanCounts, score

Counts = npt.NDArray[np.int64]


def confusion(told: TestPredictions) -> Counts:
    """How many texts, or words, of each true label were said to have each, (true, said)."""
    found = np.zeros((len(told.labels), len(told.labels)), np.int64)
    pairs = [pair for row in told.rows for pair in row.pairs]
    if pairs:
        np.add.at(found, tuple(np.array(pairs).T), 1)
    return found


def per_label(told: TestPredictions) -> dict[str, SpanCounts]:
    """Each class by its texts; each kind of name by its spans, which are right where kind and both ends are."""
    if told.kind == "tag":
        rows = [row for row in told.rows if isinstance(row, TagPrediction)]
        return score([row.tags for row in rows], [row.told for row in rows])[1]
    counts = confusion(told)
    each = zip(told.labels, counts.diagonal(), counts.sum(axis=0), counts.sum(axis=1), strict=True)
    return {label: SpanCounts(int(right), int(found), int(true)) for label, right, found, true in each}


def f1_interval(told: TestPredictions) -> tuple[float, float]:
    """95 % interval of the F1 of names, all kinds together, by sentences drawn again."""
    each = [score([row.tags], [row.told])[0] for row in told.rows if isinstance(row, TagPrediction)]
    counts = np.array([(one.right, one.found + one.true) for one in each], np.float64).reshape(-1, 2)
    return interval(float(_f1(counts.sum(axis=0))), _f1(redrawn(counts)))


def _f1(counts: Numbers) -> Numbers:
    """From right ones, and found and true ones added up, (..., 2)."""
    f1: Numbers = 2 * counts[..., 0] / np.maximum(1.0, counts[..., 1])
    return f1


def most_mistaken(counts: Counts, most: int) -> list[int]:
    """The labels with most mistakes, as true or as said one, in the matrix's order; all of them where there are no
    more than ``most``.

    >>> most_mistaken(np.array([[9, 0, 0], [0, 5, 2], [0, 1, 7]]), 2)
    [1, 2]
    """
    mistakes = counts.sum(axis=0) + counts.sum(axis=1) - 2 * counts.diagonal()
    return sorted(np.argsort(-mistakes, kind="stable")[:most].tolist())


def summed_up(counts: Counts, kept: list[int]) -> Counts:
    """The matrix of these labels, with all others added up in one last row and column, where there are any.

    >>> summed_up(np.array([[9, 1, 0], [0, 5, 2], [4, 0, 7]]), [1]).tolist()
    [[5, 2], [1, 20]]
    """
    to = np.full(len(counts), len(kept))
    to[kept] = np.arange(len(kept))
    size = len(kept) + (len(kept) < len(counts))
    found = np.zeros((size, size), np.int64)
    np.add.at(found, (to[:, None], to[None, :]), counts)
    return found
