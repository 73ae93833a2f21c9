"""How far a share can be trusted."""

from __future__ import annotations

from math import sqrt

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
