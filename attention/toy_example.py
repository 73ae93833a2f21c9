"""A small numeric example of attention, computed from small matrices, with the rest of the layer and a prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
PLAIN = 20.0  # largest absolute score for which exp is still readable


@dataclass(frozen=True, eq=False)
class ToyAttention:
    """The intermediate results of attention in the small example, from X to the output, float64."""

    queries: Numbers  # (token, width), width = heads · d_k
    keys: Numbers  # (token, width)
    values: Numbers  # (token, width)
    products: Numbers  # (head, query, key), q · k
    scaled: Numbers  # (head, query, key), divided by √d_k
    masked: Numbers  # (head, query, key), -inf for masked pairs
    shift: Numbers  # (head, query), subtracted before exp: 0 for small scores, else the row maximum
    powers: Numbers  # (head, query, key), e^(masked - shift)
    sums: Numbers  # (head, query), row sums of powers
    weights: Numbers  # (head, query, key), powers divided by their sum; rows sum to one
    mixed: Numbers  # (head, query, channel), weights · values
    result: Numbers  # (token, width), concatenated heads

    @property
    def heads(self) -> int:
        """Return the number of heads."""
        return int(self.weights.shape[0])

    @property
    def channels(self) -> int:
        """Return d_k, the number of columns of a head."""
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
    """Compute attention of the rows of ``x`` (token, column); the matrices are (column, width).

    With ``causal``, a token attends to itself and earlier tokens. Without ``scaled``, scores are not divided by √d_k.
    Raise ValueError if the shapes do not match.

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
    """Return the steps of a softmax over the last axis: shift, exponentials, sums and weights.

    The shift is subtracted from the scores. It is the row maximum, which prevents overflow, or 0 if all scores are
    small enough for readable exponentials. The weights are the same either way.

    >>> [step.tolist() for step in softmax(np.log([[1.0, 3.0]]))]
    [[0.0], [[1.0, 3.0000000000000004]], [4.0], [[0.25, 0.7500000000000001]]]
    """
    largest: Numbers = scores.max(axis=-1)
    shift = np.zeros_like(largest) if np.abs(largest).max() <= PLAIN else largest
    powers = np.exp(scores - shift[..., None])
    sums = powers.sum(axis=-1)
    return shift, powers, sums, powers / sums[..., None]


def _split(projected: Numbers, heads: int) -> Numbers:
    """Split heads, (token, head · channel) -> (head, token, channel)."""
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


EPSILON = 1e-5  # epsilon of LayerNorm, as in torch


@dataclass(frozen=True, eq=False)
class Matrices:
    """The input matrices of the small example, float64."""

    x: Numbers  # (token, column)
    w_q: Numbers  # (column, width)
    w_k: Numbers  # (column, width)
    w_v: Numbers  # (column, width)
    w_o: Numbers  # (width, column)
    w_1: Numbers  # (column, hidden)
    w_2: Numbers  # (hidden, column)
    e: Numbers  # (word, column), embeddings of the vocabulary


@dataclass(frozen=True)
class ToyRules:
    """The options of the small example: heads, mask, scaling, positions, and the rest of the layer."""

    heads: int = 1
    causal: bool = False
    scaled: bool = True  # divide scores by √d_k
    positions: bool = False  # add sinusoidal positions to X
    layer: bool = True  # use residual sums, LayerNorm and feed-forward; else project the output of W_O to logits


@dataclass(frozen=True, eq=False)
class ToyLayer:
    """The steps of a layer after its attention, arrays (token, column)."""

    added: Numbers  # x + output of W_O
    normed: Numbers
    hidden: Numbers  # (token, hidden)
    active: Numbers  # (token, hidden), ReLU
    forward: Numbers
    summed: Numbers  # normed + forward
    closed: Numbers  # LayerNorm of summed


@dataclass(frozen=True, eq=False)
class ToyExample:
    """The numbers of every step from words to predicted words in the small example, float64."""

    positions: Numbers | None  # (token, column); None without positions
    x: Numbers  # (token, column), input of attention
    worked: ToyAttention
    joined: Numbers  # (token, column), after W_O
    layer: ToyLayer | None
    last: Numbers  # (token, column), input of the projection to logits
    logits: Numbers  # (token, word)
    shift: Numbers  # (token,), shift of the softmax
    powers: Numbers  # (token, word)
    sums: Numbers  # (token,)
    chances: Numbers  # (token, word), rows sum to one


def compute_example(given: Matrices, rules: ToyRules) -> ToyExample:
    """Compute all steps from X to next-word probabilities; raise ValueError if the shapes do not match.

    >>> one = np.eye(2)
    >>> compute_example(Matrices(one, one, one, one, one, one, one, one), ToyRules()).chances.sum(axis=1).tolist()
    [1.0, 1.0]
    """
    _check_layer_shapes(given)
    sines = sinusoidal_positions(*given.x.shape) if rules.positions else None
    x = given.x if sines is None else given.x + sines
    worked = attend(x, given.w_q, given.w_k, given.w_v, rules.heads, rules.causal, scaled=rules.scaled)
    joined = worked.result @ given.w_o
    layer = layer_after_attention(x, joined, given.w_1, given.w_2) if rules.layer else None
    last = joined if layer is None else layer.closed
    logits = last @ given.e.T
    return ToyExample(sines, x, worked, joined, layer, last, logits, *softmax(logits))


def layer_after_attention(x: Numbers, joined: Numbers, w_1: Numbers, w_2: Numbers) -> ToyLayer:
    """Compute the steps after attention in a post-norm layer: sum, norm, feed-forward part, sum, norm."""
    added = x + joined
    normed = norm(added)
    hidden = normed @ w_1
    active = np.maximum(hidden, 0.0)
    forward = active @ w_2
    summed = normed + forward
    return ToyLayer(added, normed, hidden, active, forward, summed, norm(summed))


def norm(rows: Numbers) -> Numbers:
    """Apply LayerNorm to each row, shape (row, column): subtract the mean and divide by the standard deviation.

    >>> norm(np.array([[1.0, 3.0]])).round(3).tolist()
    [[-1.0, 1.0]]
    """
    mean = rows.mean(axis=-1, keepdims=True)
    found: Numbers = (rows - mean) / np.sqrt(rows.var(axis=-1, keepdims=True) + EPSILON)
    return found


def sinusoidal_positions(tokens: int, columns: int) -> Numbers:
    """Return sinusoidal positions, shape (token, column), sine in even and cosine in odd columns.

    The formula is that of arXiv:1706.03762, section 3.5.

    >>> sinusoidal_positions(2, 2).round(2).tolist()
    [[0.0, 1.0], [0.84, 0.54]]
    """
    at, column = np.arange(tokens)[:, None], np.arange(columns)[None]
    angle = at / 10_000 ** (2 * (column // 2) / columns)
    found: Numbers = np.where(column % 2 == 0, np.sin(angle), np.cos(angle))
    return found


def _check_layer_shapes(given: Matrices) -> None:
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
