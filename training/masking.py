"""Which pieces a model must guess, and what it sees in their place (arXiv:1810.04805, section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MASKED, RANDOM, KEPT = 0.8, 0.1, 0.1  # what the model sees where it must guess: [MASK], any piece, the piece itself


@dataclass(frozen=True)
class MaskedBatch:
    """A batch with blanks: what the model reads, where it is asked, and what stood there."""

    pieces: NDArray[np.int64]  # (row, position)
    places: NDArray[np.int64]  # (chosen,) flat places in (row, position), ascending
    labels: NDArray[np.int64]  # (chosen,) the pieces that stood there
    shown: NDArray[np.int64]  # (chosen,) 0 [MASK], 1 a random piece, 2 the piece itself


def choose(
    candidates: NDArray[np.bool_], words: NDArray[np.int64], rate: float, random: np.random.Generator
) -> NDArray[np.bool_]:
    """Chooses a share of each row's candidates, whole groups at a time: (row, position) -> (row, position).

    ``words`` says which word each position belongs to, ascending along a row; a different number at every position
    chooses single pieces. In random order, each word is chosen that still fits into the row's share, which is
    ``rate`` times its candidates, rounded, and at least one; so whole words never exceed it, and a row where no word
    fits stays whole.

    >>> everywhere, alone = np.ones((1, 8), bool), np.arange(8)[None]
    >>> int(choose(everywhere, alone, 0.5, np.random.default_rng(0)).sum())
    4
    """
    rows = len(candidates)
    share = np.maximum(1, np.rint(rate * candidates.sum(axis=1))).astype(np.int64)
    share[~candidates.any(axis=1)] = 0
    chosen = np.zeros_like(candidates)
    for row in range(rows):
        members = np.flatnonzero(candidates[row])
        _, word, sizes = np.unique(words[row, members], return_inverse=True, return_counts=True)
        taken = np.zeros(len(sizes), bool)
        left = int(share[row])
        for candidate in random.permutation(len(sizes)):
            if sizes[candidate] <= left:
                taken[candidate] = True
                left -= int(sizes[candidate])
                if not left:
                    break
        chosen[row, members] = taken[word]
    return chosen


def mask(
    pieces: NDArray[np.int64],  # (row, position)
    chosen: NDArray[np.bool_],  # (row, position)
    mask_id: int,
    ordinary: NDArray[np.int64],  # (n,) the ids that may stand in at random: all but the special ones
    random: np.random.Generator,
) -> MaskedBatch:
    """Hides the chosen pieces: 80 % become the mask, 10 % a random piece, 10 % stay as they are."""
    places = np.flatnonzero(chosen)
    labels = pieces.reshape(-1)[places]
    drawn = random.random(len(places))
    shown = np.where(drawn < MASKED, 0, np.where(drawn < MASKED + RANDOM, 1, 2))
    read = pieces.copy()
    read.reshape(-1)[places[shown == 0]] = mask_id
    read.reshape(-1)[places[shown == 1]] = random.choice(ordinary, int((shown == 1).sum()))
    return MaskedBatch(pieces=read, places=places, labels=labels, shown=shown)
