"""Softmax and its temperature: sensitivity, sampling, and attention under other rules."""

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


Doubles = npt.NDArray[np.float64]


def shape(logits: npt.ArrayLike, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Doubles:
    """The distribution that a token is drawn from, (token,) float64, summing to one.

    Logits are divided by ``temperature`` (0: the likeliest token alone, the first of equal ones). Then the ``top_k``
    likeliest stay, and those that are as likely as the last of them (0: all; arXiv:1805.04833, section 5); then the
    fewest whose probabilities together reach ``top_p`` (1: all; arXiv:1904.09751, section 3.1), at least one. Tokens
    at -inf cannot be drawn. Raises ValueError for settings out of range and for logits that leave nothing to draw.

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
    scores = (scores - scores.max()) / temperature  # moved first, so that a small temperature cannot overflow
    if 0 < top_k < scores.size:
        scores[scores < np.partition(scores, -top_k)[-top_k]] = -np.inf
    if top_p < 1:
        order = np.argsort(scores, kind="stable")
        below = np.cumsum(_softmax(scores[order])) <= 1 - top_p
        below[-1] = False
        scores[order[below]] = -np.inf
    return _softmax(scores)


def distribution_entropy(probabilities: npt.ArrayLike) -> float:
    """How uncertain a distribution (token,) is, in bits: 0 for a certain one, log2(n) for n equally likely tokens.

    >>> distribution_entropy([0.5, 0.25, 0.25, 0.0])
    1.5
    """
    found = np.asarray(probabilities, dtype=np.float64)
    some = found[found > 0]
    return float(-(some * np.log2(some)).sum() + 0.0)


def draw(probabilities: npt.ArrayLike, seed: int, at: int) -> int:
    """A token drawn from a distribution (token,): the same ``seed`` and place ``at`` (both 0 or more) draw the same.

    Tokens of probability 0 are never drawn.

    >>> draw([0.0, 1.0, 0.0], seed=3, at=5)
    1
    """
    reached = np.cumsum(np.asarray(probabilities, dtype=np.float64))
    aim = np.random.default_rng((seed, at)).random() * reached[-1]  # below the last
    return int(np.searchsorted(reached, aim, side="right"))


def _softmax(scores: Doubles) -> Doubles:
    raised: Doubles = np.exp(scores - scores.max())
    whole: Doubles = raised / raised.sum()
    return whole


def change_softmax_rules(
    record: Record, *, scale: float | None = None, temperature: float = 1.0, masked: bool = True
) -> Record:
    """The record under other rules; its weights are softmax(scores / temperature).

    ``scale`` replaces what the dot products are multiplied with, before bias and soft cap. With ``masked`` False every
    query looks at every key. Raises ValueError for a temperature that is not above zero.

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
        # cap · tanh(s / cap) / T is the soft cap of s / T at cap / T.
        softcap=None if record.softcap is None else record.softcap / temperature,
        sinks=None if record.sinks is None else record.sinks / np.float32(temperature),
        mask=record.mask if masked else Mask(record.queries, record.keys),
        lse=None,
    )


def spreads(record: Record, rows: Rows) -> FloatArray:
    """Mean entropy of each head over some queries, (head,), in bits; of the shares that go to keys."""
    found: FloatArray = np.array(
        [entropy(as_shares(record.weights(head, rows))).mean() for head in range(record.heads)]
    )
    return found
