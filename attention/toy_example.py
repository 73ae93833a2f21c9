"""Attention on a few small matrices, with every intermediate result kept (arXiv:1706.03762, equation 1).

    Q = X·W_Q    K = X·W_K    V = X·W_V
    A = softmax(Q·Kᵀ / √d_k), a row per query    head = A·V    result = the heads side by side

Heads split the columns of W_Q, W_K and W_V: h heads of d_k columns each. W_O and the rest of the layer follow in
attention/toy_layer.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
PLAIN = 20.0  # size of a score up to which e^x is a number that can be looked at


@dataclass(frozen=True, eq=False)
class ToyAttention:
    """Everything between X and the result, float64."""

    queries: Numbers  # (token, width), width = heads · d_k
    keys: Numbers  # (token, width)
    values: Numbers  # (token, width)
    products: Numbers  # (head, query, key), q · k
    scaled: Numbers  # (head, query, key), over √d_k
    masked: Numbers  # (head, query, key), -inf where a query may not look
    shift: Numbers  # (head, query), taken from a row's scores before e^x: 0 where no exponential is too large or small
    powers: Numbers  # (head, query, key), e^(masked - shift)
    sums: Numbers  # (head, query), of each row's powers
    weights: Numbers  # (head, query, key), powers over their sum; rows sum to one
    mixed: Numbers  # (head, query, channel), weights · values
    result: Numbers  # (token, width), the heads side by side

    @property
    def heads(self) -> int:
        """Number of heads."""
        return int(self.weights.shape[0])

    @property
    def channels(self) -> int:
        """d_k: columns of one head."""
        return int(self.mixed.shape[2])


def attend(  # noqa: PLR0913  # the four matrices of the formula
    x: Numbers,
    w_q: Numbers,
    w_k: Numbers,
    w_v: Numbers,
    heads: int = 1,
    causal: bool = False,
    *,
    scaled: bool = True,
) -> ToyAttention:
    """Attention of the rows of ``x`` (token, column) with ``w_q``, ``w_k`` and ``w_v`` (column, width).

    ``causal``: a token sees itself and what stands before it. Without ``scaled`` nothing is divided by √d_k, as if it
    were 1. Raises ValueError where the sizes do not fit.

    >>> x, asks_for_the_other = np.eye(2), np.array([[0.0, 50.0], [50.0, 0.0]])
    >>> attend(x, asks_for_the_other, np.eye(2), np.eye(2)).weights.round(3).tolist()
    [[[0.0, 1.0], [1.0, 0.0]]]
    """
    _check(x, (w_q, w_k, w_v), heads)
    queries, keys, values = x @ w_q, x @ w_k, x @ w_v
    q, k, v = (_split(projected, heads) for projected in (queries, keys, values))
    products = q @ k.swapaxes(1, 2)
    scores = products / np.sqrt(q.shape[2]) if scaled else products
    allowed = np.tri(len(x), dtype=bool) if causal else np.ones((len(x), len(x)), dtype=bool)
    masked = np.where(allowed, scores, -np.inf)
    shift, powers, sums, weights = softmax(masked)
    mixed = weights @ v
    result = mixed.swapaxes(0, 1).reshape(len(x), -1)
    return ToyAttention(queries, keys, values, products, scores, masked, shift, powers, sums, weights, mixed, result)


def softmax(scores: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """The steps of a softmax over the last axis: what is taken from each row, e^x, its sums, the shares.

    Nothing is taken while all exponentials can be looked at; else each row's largest score is, so that none overflows.
    The shares are the same.

    >>> [step.tolist() for step in softmax(np.log([[1.0, 3.0]]))]
    [[0.0], [[1.0, 3.0000000000000004]], [4.0], [[0.25, 0.7500000000000001]]]
    """
    largest: Numbers = scores.max(axis=-1)
    shift = np.zeros_like(largest) if np.abs(largest).max() <= PLAIN else largest
    powers = np.exp(scores - shift[..., None])
    sums = powers.sum(axis=-1)
    return shift, powers, sums, powers / sums[..., None]


def _split(projected: Numbers, heads: int) -> Numbers:
    """(token, head · channel) -> (head, token, channel)."""
    return projected.reshape(len(projected), heads, -1).swapaxes(0, 1)


def _check(x: Numbers, projections: tuple[Numbers, ...], heads: int) -> None:
    if x.ndim != 2 or 0 in x.shape:
        raise ValueError(f"X has shape {x.shape}; it needs a row per token and at least one column.")
    shape = (x.shape[1], projections[0].shape[-1])
    for name, projection in zip(("W_Q", "W_K", "W_V"), projections, strict=True):
        if projection.shape != shape:
            raise ValueError(f"{name} has shape {projection.shape}; X and W_Q ask for {shape}.")
    if heads < 1 or shape[1] < 1 or shape[1] % heads:
        raise ValueError(f"{heads} heads cannot share {shape[1]} columns alike; the number of heads must divide them.")
