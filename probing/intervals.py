"""Intervals: of a share, of random draws, and of a count by luck."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt

import numpy as np
import numpy.typing as npt
from scipy.stats import betabinom

Numbers = npt.NDArray[np.float64]
Z = 1.959963984540054  # 95 % of a normal distribution lie within this many standard deviations


def wilson(hits: int, n: int) -> tuple[float, float]:
    """95 % interval of a share, in percent: Wilson's, which stays within 0 and 100 and is honest for few.

    E. B. Wilson, 1927, doi:10.2307/2276774.

    >>> [round(end, 1) for end in wilson(8, 10)]
    [49.0, 94.3]
    """
    if n < 1:
        return 0.0, 100.0
    share = hits / n
    middle = share + Z**2 / (2 * n)
    reach = Z * sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    low, high = ((middle + sign * reach) / (1 + Z**2 / n) for sign in (-1, 1))
    return 100 * low if hits else 0.0, 100 * high if hits < n else 100.0


def bar(draws: Numbers, share: float) -> float:
    """Return the value that one more draw exceeds with a probability of at most 1 - ``share``; NaN for too few draws.

    It is the ⌈share · (n + 1)⌉th smallest of n draws, which needs no assumption but that all are alike.

    >>> bar(np.arange(39.0), 0.95), bar(np.arange(18.0), 0.95)
    (37.0, nan)
    """
    rank = _rank(len(draws), share)
    return float(np.sort(draws)[rank - 1]) if rank <= len(draws) else np.nan


def count_beyond_bars(rows: Sequence[tuple[int, int]], share: float) -> tuple[float, int, int]:
    """Return how many new draws are beyond their row's bar by luck: the mean, and the ends of a 95 % range.

    ``rows`` are (new draws, draws that the bar is made from); rows with too few draws have no bar. The number in a row
    is beta-binomial, since the bar is itself drawn.

    >>> [round(number, 2) for number in count_beyond_bars([(12, 48)] * 6, 0.95)]
    [2.94, 0, 7]
    """
    chances = np.ones(1)
    for places, draws in rows:
        rank = _rank(draws, share)
        if rank <= draws:
            chances = np.convolve(chances, betabinom.pmf(np.arange(places + 1), places, draws + 1 - rank, rank))
    below = np.cumsum(chances)
    mean = float(chances @ np.arange(len(chances)))
    return mean, int(np.searchsorted(below, 0.025)), int(np.searchsorted(below, 0.975))


def _rank(draws: int, share: float) -> int:
    return ceil(share * (draws + 1) - 1e-9)
