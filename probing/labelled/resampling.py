"""How far a figure would have moved on other test rows: the bootstrap, rows drawn again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SEED = 20261122
DRAWS = 999

Numbers = npt.NDArray[np.float64]


def redrawn(rows: Numbers, draws: int = DRAWS) -> Numbers:
    """Sums over as many rows as there are, drawn again with replacement: (row, number) to (draw, number).

    Whatever is a function of sums, such as F1 of counts, is drawn again by it. The same rows give the same draws.

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
    """95 % interval of a number between 0 and 1, by what it was when drawn again.

    The basic one (A. C. Davison, D. V. Hinkley, 1997, Bootstrap Methods and their Application, chapter 5.2): draws
    that lie too high on average say that the value does too, and move the interval down.

    >>> [round(end, 2) for end in interval(0.5, np.linspace(0.5, 0.7, 41))]
    [0.31, 0.49]
    """
    low, high = np.clip(2 * value - np.quantile(drawn, [0.975, 0.025]), 0.0, 1.0).tolist()
    return low, high
