"""The batch of a step: a pure function of rows, seed and step, so a resumed run reads what it would have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from training.finetune.encoding import Encoded
from training.translation.batches import laid_out

NOTHING = -100  # in place of a label where nothing is asked, as cross-entropy leaves it out
NEIGHBOURS = 32  # batches whose rows are put in order of length together, so that little is padding


@dataclass(frozen=True)
class FinetuneBatch:
    """What one step reads; arrays are (row, position) unless they say otherwise."""

    pieces: NDArray[np.int64]
    kinds: NDArray[np.int64] | None
    real: NDArray[np.int64]  # 1 for pieces, 0 for padding
    labels: NDArray[np.int64]  # (row,) of texts; (row, position) of words, NOTHING where none begins

    @property
    def count(self) -> int:
        """Pieces read, padding left out."""
        return int(self.real.sum())

    @property
    def label_count(self) -> int:
        """Labels that are there: texts, or words that have a piece of their own."""
        return int((self.labels != NOTHING).sum())


def batch(rows: Encoded, some: Sequence[int] | NDArray[np.int64], padding: int) -> FinetuneBatch:
    """Some of the rows side by side, filled up behind with ``padding``."""
    pieces = [rows.pieces[row] for row in some]
    real = laid_out([np.ones_like(one) for one in pieces], 0)
    kinds = None if rows.kinds is None else laid_out([rows.kinds[row] for row in some], 0)
    if rows.places is None:
        labels = np.array([rows.labels[row][0] for row in some], np.int64)
    else:
        labels = np.full_like(real, NOTHING)
        for at, row in enumerate(some):
            carried = rows.places[row] >= 0
            labels[at, rows.places[row][carried]] = rows.labels[row][carried]
    return FinetuneBatch(laid_out(pieces, padding), kinds, real, labels)


@dataclass
class FinetuneBatches:
    """The batches of labelled texts, by step. A pass reads every row once, rows of like length together."""

    rows: Encoded
    padding: int
    size: int  # rows in a batch; the last one of a pass may have fewer
    seed: int
    _kept: tuple[int, list[NDArray[np.int64]]] | None = field(default=None, repr=False)  # the latest pass

    def __call__(self, step: int) -> FinetuneBatch:
        """The batch of a step, counted from 0 over all passes."""
        number, within = divmod(step, self.in_a_pass)
        if self._kept is None or self._kept[0] != number:
            self._kept = number, self._draw_order(np.random.default_rng([self.seed, number]))
        return batch(self.rows, self._kept[1][within], self.padding)

    @property
    def in_a_pass(self) -> int:
        """Steps that read every row once."""
        return math.ceil(len(self.rows) / self.size)

    def _draw_order(self, random: np.random.Generator) -> list[NDArray[np.int64]]:
        lengths, shuffled = self.rows.pieces.lengths, random.permutation(len(self.rows))
        cut: list[NDArray[np.int64]] = []
        for first in range(0, len(shuffled), self.size * NEIGHBOURS):
            near = shuffled[first : first + self.size * NEIGHBOURS]
            near = near[np.argsort(lengths[near], kind="stable")]
            cut += [near[at : at + self.size] for at in range(0, len(near), self.size)]
        return [cut[at] for at in random.permutation(len(cut))]
