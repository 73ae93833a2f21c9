"""From logits to a drawn token: temperature, top-k and top-p, as numbers that can be looked at before the draw."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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


def entropy(probabilities: npt.ArrayLike) -> float:
    """How uncertain a distribution (token,) is, in bits: 0 for a certain one, log2(n) for n equally likely tokens.

    >>> entropy([0.5, 0.25, 0.25, 0.0])
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
