"""What large scores do to the softmax's gradient: the reason for √d_k (arXiv:1706.03762, section 3.2.1, footnote 4).

The gradient of the weights with respect to the scores is ∂a_j / ∂s_k = a_j (1 - a_j) for j = k, else -a_j a_k. Where
one weight is nearly one, all of it is nearly zero, and nothing is learned from that row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.toy_example import Numbers, softmax


def slopes(weights: Numbers) -> Numbers:
    """How each weight of a row changes with each score, (weight, score), from the weights (key,).

    >>> slopes(np.array([0.5, 0.5])).tolist()
    [[0.25, -0.25], [-0.25, 0.25]]
    """
    found: Numbers = np.diag(weights) - np.outer(weights, weights)
    return found


def softmax_sensitivity(weights: Numbers) -> Numbers:
    """One number for a row's gradient, (..., key) -> (...): the sum of a·(1 - a), each weight by its own score.

    Largest, 1 - 1 / n, where all weights are even; 0 where one is all.

    >>> softmax_sensitivity(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [0.5, 0.0]
    """
    found: Numbers = (weights * (1 - weights)).sum(axis=-1)
    return found


def by_width(widths: Sequence[int], tokens: int, draws: int = 200, seed: int = 0) -> tuple[Numbers, Numbers]:
    """Mean steepness over random rows for each d_k, (width,) each: scores over √d_k, and as they are.

    Queries and keys are drawn from the standard normal distribution, as after an initialisation: q · k then has mean 0
    and variance d_k, which is the footnote's argument.
    """
    random = np.random.default_rng(seed)
    over: list[float] = []
    plain: list[float] = []
    for width in widths:
        query, keys = random.normal(size=(draws, 1, width)), random.normal(size=(draws, tokens, width))
        dots = (query * keys).sum(axis=-1)
        for found, scores in ((over, dots / np.sqrt(width)), (plain, dots)):
            found.append(float(softmax_sensitivity(softmax(scores)[-1]).mean()))
    return np.array(over), np.array(plain)
