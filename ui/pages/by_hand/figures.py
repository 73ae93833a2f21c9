"""One cell's sum in figures, as it is written out under a matrix."""

from __future__ import annotations

from collections.abc import Iterable

from attention.toy_example import Numbers


def figure(number: float) -> str:
    """Two decimals, more of a small number; a negative one in brackets, so that it can stand after a sign.

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
    """Four digits, for what is divided by.

    >>> format_four_digits(0.038912), format_four_digits(-1.5)
    ('0.03891', '(−1.5)')
    """
    text = f"{abs(number):.4g}"
    return f"(−{text})" if number < 0 else text


def format_sum(numbers: Iterable[float]) -> str:
    """Numbers added.

    >>> format_sum([1, -0.5])
    '1.00 + (−0.50)'
    """
    return " + ".join(map(figure, numbers))


def dot(one: Numbers, other: Numbers) -> str:
    """A sum of products, term by term, from two vectors of one length.

    >>> import numpy as np
    >>> dot(np.array([1.0, 2.0]), np.array([-1.0, 0.5]))
    '1.00 × (−1.00) + 2.00 × 0.50'
    """
    return " + ".join(f"{figure(a)} × {figure(b)}" for a, b in zip(one, other, strict=True))
