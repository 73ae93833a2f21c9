"""Softmax and temperature: sensitivity, sampling, and attention with modified scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray, Mask
from attention.measures import as_shares, entropy
from attention.record import Record
from attention.toy_example import Numbers, softmax
from attention.walkthrough import Rows


def slopes(weights: Numbers) -> Numbers:
    """Return the Jacobian of the softmax at the weights (key,): the derivative of each weight by each score.

    The shape is (weight, score).

    >>> slopes(np.array([0.5, 0.5])).tolist()
    [[0.25, -0.25], [-0.25, 0.25]]
    """
    found: Numbers = np.diag(weights) - np.outer(weights, weights)
    return found


def softmax_sensitivity(weights: Numbers) -> Numbers:
    """Return Σ a·(1 - a) of each row, (..., key) -> (...): the trace of the softmax Jacobian.

    The sum shows how much the weights change if scores change. It is largest for n uniform weights, 1 - 1 / n, and 0 if
    a single weight is 1.

    >>> softmax_sensitivity(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [0.5, 0.0]
    """
    found: Numbers = (weights * (1 - weights)).sum(axis=-1)
    return found


def by_width(widths: Sequence[int], tokens: int, draws: int = 200, seed: int = 0) -> tuple[Numbers, Numbers]:
    """Return the mean softmax sensitivity of random rows for each d_k, with and without the scale 1/√d_k.

    Both arrays are (width,), and each mean is over ``draws`` rows of ``tokens`` keys. Queries and keys are drawn from
    the standard normal distribution, as after initialisation, so that q · k has mean 0 and variance d_k.
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


Doubles = npt.NDArray[np.float64]


def shape(logits: npt.ArrayLike, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Doubles:
    """Return the distribution from which a token is sampled, from logits (token,), float64, summing to one.

    Logits are divided by ``temperature``; 0 selects the likeliest token, the first in a tie. Next, only the ``top_k``
    likeliest tokens remain, with ties (arXiv:1805.04833, section 5); 0 keeps all. Finally, only the likeliest tokens
    with a total probability of at least ``top_p`` remain (arXiv:1904.09751, section 3.1); 1 keeps all. Tokens at -inf
    are never sampled. Raise ValueError for options out of range and for logits without a finite value.

    >>> shape([0.0, np.log(2), np.log(5)]).round(3).tolist()
    [0.125, 0.25, 0.625]
    >>> shape([0.0, np.log(2), np.log(5)], top_p=0.8).round(3).tolist()
    [0.0, 0.286, 0.714]
    """
    scores = np.array(logits, dtype=np.float64)
    if temperature < 0 or top_k < 0 or not 0 <= top_p <= 1:
        raise ValueError(
            f"The temperature {temperature}, top-k {top_k} and top-p {top_p} came; none may be below 0, and top-p not"
            " above 1."
        )
    if scores.ndim != 1 or np.isnan(scores).any() or not np.isfinite(scores.max(initial=-np.inf)):
        raise ValueError(f"Logits of shape {scores.shape} came; one row with at least one finite number was expected.")
    if temperature == 0:
        certain = np.zeros_like(scores)
        certain[scores.argmax()] = 1
        return certain
    scores = (scores - scores.max()) / temperature  # at most 0, so that a small temperature cannot overflow
    if 0 < top_k < scores.size:
        scores[scores < np.partition(scores, -top_k)[-top_k]] = -np.inf
    if top_p < 1:
        order = np.argsort(scores, kind="stable")
        below = np.cumsum(_softmax(scores[order])) <= 1 - top_p
        below[-1] = False
        scores[order[below]] = -np.inf
    return _softmax(scores)


def distribution_entropy(probabilities: npt.ArrayLike) -> float:
    """Return the entropy of a distribution (token,) in bits: 0 if certain, log2(n) for n equal tokens.

    >>> distribution_entropy([0.5, 0.25, 0.25, 0.0])
    1.5
    """
    found = np.asarray(probabilities, dtype=np.float64)
    some = found[found > 0]
    return float(-(some * np.log2(some)).sum() + 0.0)


def draw(probabilities: npt.ArrayLike, seed: int, at: int) -> int:
    """Sample a token from a distribution (token,), reproducible by ``seed`` and the position ``at``.

    ``seed`` and ``at`` must be at least 0. Tokens of probability 0 are never sampled.

    >>> draw([0.0, 1.0, 0.0], seed=3, at=5)
    1
    """
    reached = np.cumsum(np.asarray(probabilities, dtype=np.float64))
    aim = np.random.default_rng((seed, at)).random() * reached[-1]  # stay below the total, because random() < 1
    return int(np.searchsorted(reached, aim, side="right"))


def _softmax(scores: Doubles) -> Doubles:
    raised: Doubles = np.exp(scores - scores.max())
    whole: Doubles = raised / raised.sum()
    return whole


def change_softmax_rules(
    record: Record, *, scale: float | None = None, temperature: float = 1.0, masked: bool = True
) -> Record:
    """Return a copy of a record whose weights are softmax(scores / temperature).

    ``scale`` replaces the scale of the dot products, before bias and soft cap. With ``masked`` False every query
    attends to every key. Raise ValueError unless the temperature is above zero.

    >>> one, two = np.ones((1, 1, 2), np.float32), np.array([[[0, 0], [1, 1]]], np.float32)
    >>> record = Record(one, two, two, scale=0.5, mask=Mask(1, 2))
    >>> change_softmax_rules(record, temperature=1e6).weights(0).round(2).tolist()
    [[0.5, 0.5]]
    """
    if not temperature > 0:
        raise ValueError(f"A temperature of {temperature} came; it divides the scores, so give one above 0.")
    return replace(
        record,
        scale=(record.scale if scale is None else scale) / temperature,
        bias=None if record.bias is None else record.bias / np.float32(temperature),
        # Since cap · tanh(s / cap) / T is the soft cap of s / T at cap / T, the cap is divided too.
        softcap=None if record.softcap is None else record.softcap / temperature,
        sinks=None if record.sinks is None else record.sinks / np.float32(temperature),
        mask=record.mask if masked else Mask(record.queries, record.keys),
        lse=None,
    )


def spreads(record: Record, rows: Rows) -> FloatArray:
    """Return each head's mean attention entropy over the query tokens ``rows``, in bits, shape (head,).

    Rows are first scaled to sum to one.
    """
    found: FloatArray = np.array(
        [entropy(as_shares(record.weights(head, rows))).mean() for head in range(record.heads)]
    )
    return found
