"""Induction heads: on a text that says the same twice, they look back to what came next the first time.

The texts are made: some tokens in front, then copies of a sequence of random tokens, all different, so that nothing
but the repetition can be recognised (arXiv:2209.11895). Maps are (..., query, key).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray

SETTLED = 2  # the first query that is counted for the other scores: the token before it is never the first of all


def prefix_matching_score(maps: FloatArray, start: int, length: int) -> FloatArray:
    """The prefix-matching score, (..., query, key) -> (...), from 0 to 1.

    For each token of the second and later copies, what it gives to the tokens that followed its earlier occurrences;
    the mean over these tokens. ``start`` tokens stand in front, ``length`` is that of one copy. Raises ValueError for
    maps in which nothing is repeated. The score of arXiv:2209.11895, summed over earlier copies.

    >>> maps = np.zeros((6, 6), np.float32)  # a b c a b c
    >>> maps[[3, 4, 5], [1, 2, 3]] = [1.0, 0.5, 0.0]  # the second a looks at the first b, and so on
    >>> float(prefix_matching_score(maps, 0, 3))
    0.5
    """
    queries, keys = _pairs(maps.shape[-1], start, length)
    total: FloatArray = maps[..., queries, keys].sum(axis=-1) / np.float32(len(np.unique(queries)))
    return total


def previous(maps: FloatArray) -> FloatArray:
    """What tokens give to the token before, the mean over the third and later ones, (..., query, key) -> (...).

    >>> float(previous(np.eye(4, k=-1, dtype=np.float32)))
    1.0
    """
    given: FloatArray = np.diagonal(maps, -1, -2, -1)[..., SETTLED - 1 :].mean(axis=-1)
    return given


def first(maps: FloatArray) -> FloatArray:
    """What tokens give to the first of all, the mean over the third and later ones, (..., query, key) -> (...).

    >>> float(first(np.array([[1, 0, 0], [0, 1, 0], [0.25, 0, 0.75]], np.float32)))
    0.25
    """
    given: FloatArray = maps[..., SETTLED:, 0].mean(axis=-1)
    return given


def uniform_matching_score(tokens: int, start: int, length: int) -> float:
    """The prefix-matching score of attention that is spread evenly over all that a token may see.

    >>> round(uniform_matching_score(4, 0, 2), 4)  # two copies of two tokens: (1/3 + 1/4) / 2
    0.2917
    """
    queries, _ = _pairs(tokens, start, length)
    return float((1.0 / (queries + 1)).sum() / len(np.unique(queries)))


def _pairs(tokens: int, start: int, length: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Each query of a later copy with each token that followed an earlier occurrence of it."""
    back = length - 1  # from a token to what followed it one copy before
    pairs = [(query, key) for query in range(start + length, tokens) for key in range(query - back, start, -length)]
    if back < 1 or not pairs:
        raise ValueError(f"{tokens} tokens, {start} in front, repeat no sequence of {length}: give two copies or more.")
    queries, keys = np.array(pairs, dtype=np.intp).T
    return queries, keys
