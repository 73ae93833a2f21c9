"""What a head does in one text beside what a head does in another, over the cells that both have.

A row is compared as a distribution: what it gives to keys with a partner, as shares of it, so that a key which only one
text has does not count as a change by itself. How much fell on such keys is told beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray
from attention.measures import as_shares, entropy
from attention.text_alignment import Aligned, Run, align
from attention.view import View
from i18n import gettext_lazy

MOST_WORK = 3 * 10**7  # weights on each side whose logarithm is taken; of long texts some rows stand for all

Rows = npt.NDArray[np.intp]
Heads = npt.NDArray[np.intp]  # (layer, head, 2): for each head of the left its layer and head on the right


def divergence(left: FloatArray, right: FloatArray) -> FloatArray:
    """Jensen–Shannon divergence of each row's shares, (..., row, key) twice -> (..., row), 0 to 1 bit.

    0: the same shares; 1: no key in common. No number for a row that is empty on a side.

    >>> divergence(np.array([[1.0, 0.0], [0.2, 0.2]]), np.array([[0.0, 0.5], [0.5, 0.5]])).tolist()
    [1.0, 0.0]
    """
    one, other = as_shares(left), as_shares(right)
    mixed: FloatArray = (one + other) * np.float32(0.5)
    bits = entropy(mixed) - (entropy(one) + entropy(other)) / 2
    told: FloatArray = np.clip(bits, 0, 1)
    told[(left.sum(axis=-1) <= 0) | (right.sum(axis=-1) <= 0)] = np.nan
    return told


@dataclass(frozen=True, eq=False)
class AlignedViews:
    """Two views, and which of their cells are partners."""

    left: View
    right: View
    queries: Aligned
    keys: Aligned

    @staticmethod
    def align(left: View, right: View) -> AlignedViews:
        """Two views with their cells aligned."""
        return AlignedViews(left, right, *align(left, right))

    def maps(self, side: int, layer: int, head: int, rows: Rows | None = None) -> tuple[FloatArray, FloatArray]:
        """One head's weights among partners, (query pair, key pair), and what each row gave other keys, (query pair,).

        ``side`` is 0 for the left and 1 for the right, ``rows`` the query pairs asked for, by default all. To a key of
        several cells goes the sum over them, from a query of several the mean.
        """
        view = (self.left, self.right)[side]
        queries, keys = self._runs[side]
        asked = queries if rows is None else queries[rows]
        sizes = asked[:, 1] - asked[:, 0]
        cells = np.concatenate([np.arange(*run) for run in asked])
        every = len(cells) == len(view.queries)
        weights = view.weights(layer, head) if every else view.rows_of(layer, head, cells)
        by_row: FloatArray = np.add.reduceat(weights, np.cumsum(sizes) - sizes, axis=0)
        by_row /= sizes[:, None].astype(np.float32)
        partners = _run_sums(by_row, keys)
        return partners, np.maximum(by_row.sum(axis=1) - partners.sum(axis=1), 0)

    def row(self, side: int, layer: int, head: int, query: Run) -> FloatArray:
        """Where some neighbouring cells of a side look on the mean, at partners and all others, (key,)."""
        view = (self.left, self.right)[side]
        weights: FloatArray = view.block(layer, head, query, (0, len(view.keys))).mean(axis=0)
        return weights

    @cached_property
    def _runs(self) -> list[tuple[Rows, Rows]]:
        """The runs of query pairs and of key pairs on each side, (pair, start and stop)."""
        queries, keys = (np.array(aligned.pairs, np.intp).reshape(-1, 2, 2) for aligned in (self.queries, self.keys))
        return [(queries[:, side], keys[:, side]) for side in (0, 1)]


@dataclass(frozen=True, eq=False)
class Changes:
    """How much every head of the left differs from its partner on the right, all (layer, head)."""

    bits: FloatArray  # Jensen–Shannon divergence, mean over the rows; no number where no row can be compared
    lost: tuple[FloatArray, FloatArray]  # on the left and on the right: the share that went to keys without a partner
    rows: int  # compared
    all_rows: int  # that have a partner

    @property
    def most(self) -> tuple[int, int]:
        """The head that differs most."""
        layer, head = np.unravel_index(int(np.nanargmax(self.bits)), self.bits.shape)
        return int(layer), int(head)


def same_heads(left: View, right: View) -> Heads | None:
    """Each head beside the one of the same layer and number; None for models of other shapes."""
    if (left.layers, left.heads) != (right.layers, right.heads):
        return None
    return np.moveaxis(np.indices((left.layers, left.heads)), 0, 2)


def changes(beside: AlignedViews, partners: Heads) -> Changes:
    """Every head beside its partner; of a long text over evenly spread rows. Raises ValueError for no common words."""
    if not beside.queries.pairs or not beside.keys.pairs:
        raise ValueError(gettext_lazy("The two texts have no words in common, so no row can be compared."))
    layers, heads = partners.shape[:2]
    rows = sample_rows(beside, layers * heads)
    bits, lost = np.full((layers, heads), np.nan, np.float32), np.zeros((2, layers, heads), np.float32)
    for layer, head in np.ndindex(layers, heads):
        one, lost_left = beside.maps(0, layer, head, rows)
        there = partners[layer, head]
        other, lost_right = beside.maps(1, int(there[0]), int(there[1]), rows)
        told = divergence(one, other)
        if not np.isnan(told).all():
            bits[layer, head] = np.nanmean(told)
        lost[:, layer, head] = lost_left.mean(), lost_right.mean()
    every = len(beside.queries.pairs)
    return Changes(bits, (lost[0], lost[1]), every if rows is None else len(rows), every)


def sample_rows(beside: AlignedViews, heads: int) -> Rows | None:
    """Which query pairs stand for a long text, evenly spread; None where all of them are compared."""
    pairs = len(beside.queries.pairs)
    keys = max(len(beside.left.keys), len(beside.right.keys))
    most = max(16, MOST_WORK // (heads * keys))
    return None if pairs <= most else np.unique(np.linspace(0, pairs - 1, most).astype(np.intp))


def head_divergences(beside: AlignedViews) -> FloatArray:
    """Every head of the left beside every head of the right: Jensen–Shannon divergences, mean over rows.

    (left head, right head), heads numbered layer by layer. For short texts: all maps are held at once.
    """
    left, right = (_all_shares(beside, side) for side in (0, 1))
    alone = [entropy(maps) for maps in (left, right)]
    found = np.empty((len(left), len(right)), np.float32)
    for head, maps in enumerate(left):
        mixed: FloatArray = (maps + right) * np.float32(0.5)
        both = entropy(mixed)
        found[head] = (both - (alone[0][head] + alone[1]) / 2).mean(axis=1)
    return np.clip(found, 0, 1)


def best_heads(divergences: FloatArray, left: View, right: View) -> Heads:
    """For each head of the left the head of the right that differs least, by a mean (left head, right head)."""
    best = np.unravel_index(divergences.argmin(axis=1), (right.layers, right.heads))
    return np.stack(best, axis=1).reshape(left.layers, left.heads, 2)


def _all_shares(beside: AlignedViews, side: int) -> FloatArray:
    view = (beside.left, beside.right)[side]
    maps = [beside.maps(side, layer, head)[0] for layer, head in np.ndindex(view.layers, view.heads)]
    return as_shares(np.stack(maps))


def _run_sums(values: FloatArray, runs: Rows) -> FloatArray:
    """Sums of (row, key) over each run of keys, (row, run); runs are in order and do not meet."""
    first, last = int(runs[0, 0]), int(runs[-1, 1])
    if len(runs) == last - first:  # each is one key, and none lies between them
        return values[:, first:last]
    # Starts and stops together, so that a run ends where it does even when a key without a partner follows.
    sums: FloatArray = np.add.reduceat(values[:, first:last], (runs - first).reshape(-1)[:-1], axis=1)
    result: FloatArray = sums[:, ::2]
    return result
