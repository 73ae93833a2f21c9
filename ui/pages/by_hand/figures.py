"""Formatting of the sums that are written out below a matrix."""

from __future__ import annotations

from collections.abc import Iterable

from attention.toy_example import Numbers


def figure(number: float) -> str:
    """Format a number with two decimals, more if it is small.

    Negative numbers are put in brackets, so that they can follow an operator.

    >>> figure(0.126), figure(-2.0), figure(0.0004), figure(2.5e9), figure(float("-inf"))
    ('0.13', '(−2.00)', '0.0004', '2.5e+09', '(−∞)')
    """
    size = abs(number)
    if size == float("inf"):
        text = "∞"
    elif size >= 1e5:
        text = f"{size:.3g}"
    else:
        text = f"{size:.2f}" if size >= 0.005 or size == 0 else f"{size:.1g}"
    return f"(−{text})" if number < 0 else text


def format_four_digits(number: float) -> str:
    """Format a number with four significant digits.

    >>> format_four_digits(0.038912), format_four_digits(-1.5)
    ('0.03891', '(−1.5)')
    """
    text = f"{abs(number):.4g}"
    return f"(−{text})" if number < 0 else text


def format_sum(numbers: Iterable[float]) -> str:
    """Write out a sum.

    >>> format_sum([1, -0.5])
    '1.00 + (−0.50)'
    """
    return " + ".join(map(figure, numbers))


def dot(one: Numbers, other: Numbers) -> str:
    """Write out the dot product of two vectors of equal length.

    >>> import numpy as np
    >>> dot(np.array([1.0, 2.0]), np.array([-1.0, 0.5]))
    '1.00 × (−1.00) + 2.00 × 0.50'
    """
    return " + ".join(f"{figure(a)} × {figure(b)}" for a, b in zip(one, other, strict=True))
