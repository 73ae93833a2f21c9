"""The batch of a step: a pure function of pairs, seed and step, so a resumed run reads what it would have.

All pairs are held in memory, four bytes a piece: a few million pairs are fine, a web crawl is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Texts:
    """Many texts as one array of pieces."""

    pieces: NDArray[np.int32]  # (piece,) of all texts, one behind the other
    starts: NDArray[np.int64]  # (text + 1,) where each begins, and where the last ends

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Pieces of every text, (text,)."""
        return np.diff(self.starts)

    def __getitem__(self, text: int) -> NDArray[np.int32]:
        return self.pieces[self.starts[text] : self.starts[text + 1]]


def texts(rows: Sequence[Sequence[int] | NDArray[np.int32]]) -> Texts:
    """Texts from their pieces."""
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Texts(np.concatenate([np.asarray(row, np.int32) for row in rows]), starts)


@dataclass(frozen=True)
class TranslationBatch:
    """What one step reads; arrays are (row, position), filled up with ``padding``."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    padding: int

    @property
    def count(self) -> int:
        """Pieces read, of both sides, padding left out."""
        return int((self.source != self.padding).sum() + (self.target != self.padding).sum())


def laid_out(rows: Sequence[Sequence[int] | NDArray[np.int32]], padding: int) -> NDArray[np.int64]:
    """Rows of unequal length as one array, (row, position).

    >>> laid_out([[5, 6, 7], [8]], padding=0).tolist()
    [[5, 6, 7], [8, 0, 0]]
    """
    filled = np.full((len(rows), max(map(len, rows))), padding, np.int64)
    for index, row in enumerate(rows):
        filled[index, : len(row)] = row
    return filled


@dataclass
class TranslationBatches:
    """The batches of a corpus, by step. A pass reads every pair once, pairs of like length together."""

    sources: Texts
    targets: Texts
    padding: int
    size: int  # pieces of source and target in a batch, padding included, at most
    seed: int
    _firsts: list[int] = field(default_factory=lambda: [0])  # first step of every pass known so far
    _kept: tuple[int, list[NDArray[np.int64]]] | None = None  # the latest pass and its batches

    def __call__(self, step: int) -> TranslationBatch:
        """The batch of a step, counted from 0 over all passes."""
        number, within = self.place(step)
        rows = self._batches(number)[within]
        return TranslationBatch(
            laid_out([self.sources[row] for row in rows], self.padding),
            laid_out([self.targets[row] for row in rows], self.padding),
            self.padding,
        )

    def place(self, step: int) -> tuple[int, int]:
        """Which pass a step is in, and which of its batches it reads."""
        while self._firsts[-1] <= step:
            self._firsts.append(self._firsts[-1] + len(self._batches(len(self._firsts) - 1)))
        number = int(np.searchsorted(self._firsts, step, side="right")) - 1
        return number, step - self._firsts[number]

    def _batches(self, number: int) -> list[NDArray[np.int64]]:
        """The rows of every batch of a pass, kept while it lasts."""
        if self._kept is None or self._kept[0] != number:
            self._kept = number, self._draw_order(np.random.default_rng([self.seed, number]))
        return self._kept[1]

    def _draw_order(self, random: np.random.Generator) -> list[NDArray[np.int64]]:
        source, target = self.sources.lengths, self.targets.lengths
        order = np.lexsort((random.random(len(source)), source, target))
        cut: list[NDArray[np.int64]] = []
        first, widest = 0, 0
        for at, row in enumerate(order):  # target lengths ascend, so only the sources' widest must be kept
            widest = max(widest, int(source[row]))
            if at > first and (at + 1 - first) * (widest + int(target[row])) > self.size:
                cut.append(order[first:at])
                first, widest = at, int(source[row])
        cut.append(order[first:])
        return [cut[index] for index in random.permutation(len(cut))]
