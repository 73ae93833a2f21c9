"""How much of a link is the query's own: its weight beyond what the text's other words give the same key.

In some heads every word looks at one word. There "it" looks at "animal" as strongly as in a head where only "it" does,
and only the second says something about "it". So beside each weight stands what the key gets *usually*: the mean over
the text's other words, in the same head. Other words are no special tokens, neither the query nor the key itself, and
they may look at the key (in a decoder: they come after it).

    excess = weight − mean over the other words, from −1 to 1

A head whose rows are all the same has an excess of 0 everywhere; weight shifted between other keys changes nothing.
Where no other word may look at the key, nothing is known: NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.mask import BoolArray, FloatArray
from attention.view import View

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ColumnMeans:
    """What the words of a text give each key together, head by head; from some rows only where the text is long.

    It does not hold the view that it was counted in, which every question brings: a survey outlives its trace.
    """

    rows: Rows  # the queries that were counted, (row,)
    sums: FloatArray  # (layer, head, key)
    counts: Rows  # (layer, key)

    def means(self) -> FloatArray:
        """What they give each key on average, (layer, head, key); 0 where nobody may look at it."""
        counts = np.broadcast_to(self.counts[:, None], self.sums.shape)
        means: FloatArray = np.divide(self.sums, counts, out=np.zeros_like(self.sums), where=counts > 0)
        return means

    @property
    def nbytes(self) -> int:
        """Bytes that it holds."""
        return int(self.rows.nbytes + self.sums.nbytes + self.counts.nbytes)

    def usual_row(self, view: View, query: int, weights: FloatArray) -> FloatArray:
        """What the other words give each key, (layer, head, key); ``weights`` are the query's own, of that shape."""
        counted = self._included_weights(view, np.array([query]), None)[:, 0]
        return self._without(weights, counted, self.sums, self.counts)

    def usual_column(self, view: View, key: int, weights: FloatArray) -> FloatArray:
        """What the others give one key beside each query, (layer, head, query); ``weights`` are what it gets."""
        counted = self._included_weights(view, np.arange(len(view.queries)), np.array([key]))[:, :, 0]
        return self._without(weights, counted, self.sums[:, :, key, None], self.counts[:, key, None])

    def _included_weights(self, view: View, rows: Rows, cols: Rows | None) -> BoolArray:
        """Which weights are in the sums, (layer, row, col)."""
        summed = np.isin(rows, self.rows)[:, None]
        return np.array([summed & visible_word_pairs(view, layer, rows, cols) for layer in range(view.layers)])

    @staticmethod
    def _without(weights: FloatArray, counted: BoolArray, sums: FloatArray, counts: Rows) -> FloatArray:
        """The mean over the counted words but this one; rounding may not take it below 0."""
        left = sums - np.where(counted[:, None], weights, 0)
        others = np.broadcast_to((counts - counted)[:, None], left.shape)
        means: FloatArray = np.full(left.shape, np.nan, np.float32)
        np.divide(left, others, out=means, where=others > 0)
        return np.maximum(means, 0, out=means)


def visible_word_pairs(view: View, layer: int, rows: Rows, cols: Rows | None = None) -> BoolArray:
    """Which of these rows are words that may look at which of these keys, their own place aside, (row, col).

    The same for each head of a layer; ``cols`` are all keys unless told.
    """
    words = np.array([not view.queries[row].special for row in rows], dtype=bool)
    keys = np.arange(len(view.keys)) if cols is None else cols
    counted: BoolArray = np.repeat(words[:, None], len(keys), axis=1)
    if not view.crosses:
        counted &= rows[:, None] != keys[None, :]
    visible = view.visible(layer, rows, cols)
    return counted if visible is None else counted & visible


def excess_map(weights: FloatArray, counted: BoolArray) -> FloatArray:
    """One head's excess, (row, key), of its weights and of which of them count (see ``visible_word_pairs``).

    >>> excess_map(np.array([[0, 0.75], [0, 0.25], [0, 0.5]], np.float32), np.ones((3, 2), bool)).tolist()
    [[0.0, 0.375], [0.0, -0.375], [0.0, 0.0]]
    """
    mine = np.where(counted, weights, 0)
    others = counted.sum(axis=0) - counted
    usual = np.full_like(weights, np.nan)
    np.divide(mine.sum(axis=0) - mine, others, out=usual, where=others > 0)
    result: FloatArray = weights - usual
    return result
