"""The small example's whole way: positions, attention, the rest of the layer, and the next word.

    X + P → heads side by side · W_O → + → LayerNorm → ReLU(· W_1) · W_2 → + → LayerNorm → · Eᵀ → softmax

The encoder's layer of arXiv:1706.03762 (sections 3.1 and 3.3; sines and cosines of 3.5; the vocabulary's vectors E of
3.4). Departures, so that everything can be seen: no biases, no dropout, and LayerNorm (arXiv:1607.06450) without its
learned factors: γ = 1, β = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attention.toy_example import Numbers, ToyAttention, attend, softmax

EPSILON = 1e-5  # added to LayerNorm's variance, as torch does


@dataclass(frozen=True, eq=False)
class Matrices:
    """What the example is made of, float64."""

    x: Numbers  # (token, column)
    w_q: Numbers  # (column, width)
    w_k: Numbers  # (column, width)
    w_v: Numbers  # (column, width)
    w_o: Numbers  # (width, column)
    w_1: Numbers  # (column, hidden)
    w_2: Numbers  # (hidden, column)
    e: Numbers  # (word, column), the vocabulary's vectors


@dataclass(frozen=True)
class ToyRules:
    """How it is computed."""

    heads: int = 1
    causal: bool = False
    scaled: bool = True  # over √d_k
    positions: bool = False  # sines and cosines are added to X
    layer: bool = True  # residual sums, LayerNorm and feed-forward; without them E meets what W_O gives


@dataclass(frozen=True, eq=False)
class ToyLayer:
    """The rest of the layer, (token, column) each but for the hidden ones."""

    added: Numbers  # x + what W_O gives
    normed: Numbers
    hidden: Numbers  # (token, hidden)
    active: Numbers  # (token, hidden), ReLU
    forward: Numbers
    summed: Numbers  # normed + forward
    closed: Numbers  # its LayerNorm


@dataclass(frozen=True, eq=False)
class ToyExample:
    """Every step, float64."""

    positions: Numbers | None  # (token, column); None where they are off
    x: Numbers  # (token, column), what attention reads
    worked: ToyAttention
    joined: Numbers  # (token, column), after W_O
    layer: ToyLayer | None
    last: Numbers  # (token, column), what E meets
    logits: Numbers  # (token, word)
    shift: Numbers  # (token,), as in attention.toy_example.softmax
    powers: Numbers  # (token, word)
    sums: Numbers  # (token,)
    chances: Numbers  # (token, word), rows sum to one


def compute_example(given: Matrices, rules: ToyRules) -> ToyExample:
    """All steps from X to the next word's probabilities. Raises ValueError where the sizes do not fit.

    >>> one = np.eye(2)
    >>> compute_example(Matrices(one, one, one, one, one, one, one, one), ToyRules()).chances.sum(axis=1).tolist()
    [1.0, 1.0]
    """
    _check(given)
    sines = sinusoidal_positions(*given.x.shape) if rules.positions else None
    x = given.x if sines is None else given.x + sines
    worked = attend(x, given.w_q, given.w_k, given.w_v, rules.heads, rules.causal, scaled=rules.scaled)
    joined = worked.result @ given.w_o
    layer = layer_after_attention(x, joined, given.w_1, given.w_2) if rules.layer else None
    last = joined if layer is None else layer.closed
    logits = last @ given.e.T
    return ToyExample(sines, x, worked, joined, layer, last, logits, *softmax(logits))


def layer_after_attention(x: Numbers, joined: Numbers, w_1: Numbers, w_2: Numbers) -> ToyLayer:
    """What follows attention in a layer, norms after the sums."""
    added = x + joined
    normed = norm(added)
    hidden = normed @ w_1
    active = np.maximum(hidden, 0.0)
    forward = active @ w_2
    summed = normed + forward
    return ToyLayer(added, normed, hidden, active, forward, summed, norm(summed))


def norm(rows: Numbers) -> Numbers:
    """LayerNorm of each row, (row, column): less its mean, over its standard deviation.

    >>> norm(np.array([[1.0, 3.0]])).round(3).tolist()
    [[-1.0, 1.0]]
    """
    mean = rows.mean(axis=-1, keepdims=True)
    found: Numbers = (rows - mean) / np.sqrt(rows.var(axis=-1, keepdims=True) + EPSILON)
    return found


def sinusoidal_positions(tokens: int, columns: int) -> Numbers:
    """Sines in the even columns and cosines in the odd ones, (token, column): arXiv:1706.03762, section 3.5.

    >>> sinusoidal_positions(2, 2).round(2).tolist()
    [[0.0, 1.0], [0.84, 0.54]]
    """
    at, column = np.arange(tokens)[:, None], np.arange(columns)[None]
    angle = at / 10_000 ** (2 * (column // 2) / columns)
    found: Numbers = np.where(column % 2 == 0, np.sin(angle), np.cos(angle))
    return found


def _check(given: Matrices) -> None:
    columns, width = given.w_q.shape
    needed = {
        "w_o": (width, columns),
        "w_1": (columns, None),
        "w_2": (given.w_1.shape[-1], columns),
        "e": (None, columns),
    }
    for name, shape in needed.items():
        found = getattr(given, name).shape
        if len(found) != 2 or 0 in found or any(a is not None and a != b for a, b in zip(shape, found, strict=True)):
            wanted = " × ".join("any" if size is None else str(size) for size in shape)
            raise ValueError(f"{name.upper()} has shape {found}; the others ask for {wanted}.")
