"""Intervals: of a share, of random draws, and of a count by luck."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, comb, exp, lgamma, sqrt

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray

Numbers = npt.NDArray[np.float64]
Z = 1.959963984540054  # 95 % of a normal distribution lie within this many standard deviations

DRAWS = 3  # random changes for each place at least
ROW_DRAWS = 39  # random changes of a row at least, so that one more is beyond USUAL of them in 1 of 20 cases
USUAL = 0.95  # share of random changes that a place must exceed to be marked
MOVED = 1e-6  # the smallest change that is not rounding


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


def draws(width: int) -> int:
    """Return how many random changes each place of a row of ``width`` places gets.

    >>> draws(12), draws(4), draws(60)
    (4, 10, 3)
    """
    return max(DRAWS, ceil(ROW_DRAWS / width))


def bands(drawn: FloatArray) -> FloatArray:
    """Return each row's bar for the share of a place, (row,), from the random changes that moved something."""
    return np.array([bar(row.astype(np.float64), USUAL) for row in _nonzero_draws(drawn)], np.float32)


def by_luck(drawn: FloatArray, width: int) -> tuple[float, int, int]:
    """Return how many places of rows of ``width`` exceed their bars by luck: the mean, and the ends of a 95 % range."""
    return count_beyond_bars([(width, len(row)) for row in _nonzero_draws(drawn)], USUAL)


def _nonzero_draws(drawn: FloatArray) -> list[FloatArray]:
    return [row[np.isfinite(row) & (np.abs(row) > MOVED)] for row in drawn]


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
            chances = np.convolve(chances, _beta_binomial(places, draws + 1 - rank, rank))
    below = np.cumsum(chances)
    mean = float(chances @ np.arange(len(chances)))
    return mean, int(np.searchsorted(below, 0.025)), int(np.searchsorted(below, 0.975))


def _beta_binomial(n: int, a: int, b: int) -> Numbers:
    """Return the beta-binomial probabilities of 0 to n.

    >>> _beta_binomial(1, 1, 3).round(2).tolist()
    [0.75, 0.25]
    """

    def beta(one: int, other: int) -> float:
        return lgamma(one) + lgamma(other) - lgamma(one + other)

    return np.array([comb(n, k) * exp(beta(k + a, n - k + b) - beta(a, b)) for k in range(n + 1)])


def _rank(draws: int, share: float) -> int:
    return ceil(share * (draws + 1) - 1e-9)
