"""Formulas for the cost of attention: complexity of layer types, and operation counts of a real layer.

The complexities are those of arXiv:1706.03762, table 1, the expression inside O(·), without constants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from i18n import gettext_lazy

Values = npt.NDArray[np.float64]
FLOAT = 4  # bytes of a number


@dataclass(frozen=True)
class ComplexitySetting:
    """The sizes in the complexity formulas, except the number of tokens n.

    ``d`` is the width of a token vector, and ``k`` the kernel width of a convolution. Restricted attention sees a
    window of ``r`` tokens.
    """

    d: int
    k: int = 3
    r: int = 128


@dataclass(frozen=True)
class LayerType:
    """A type of layer, with its cost, number of sequential steps and longest path as functions of n tokens."""

    name: str
    complexity: str  # formulas in the notation of the table
    sequential: str
    path: str
    cost_at: Callable[[Values, ComplexitySetting], Values]
    steps_at: Callable[[Values, ComplexitySetting], Values]
    path_at: Callable[[Values, ComplexitySetting], Values]


def _constant(n: Values, _setting: ComplexitySetting) -> Values:
    return np.ones_like(n)


def _linear(n: Values, _setting: ComplexitySetting) -> Values:
    return n


TABLE = (
    LayerType(gettext_lazy("Self-attention"), "n² · d", "1", "1", lambda n, s: n**2 * s.d, _constant, _constant),
    LayerType(gettext_lazy("Recurrent"), "n · d²", "n", "n", lambda n, s: n * s.d**2, _linear, _linear),
    LayerType(
        gettext_lazy("Convolutional"),
        "k · n · d²",
        "1",
        "log_k(n)",
        lambda n, s: s.k * n * s.d**2,
        _constant,
        # The path has at least a single layer.
        lambda n, s: np.maximum(1, np.log(n) / np.log(s.k)),
    ),
    LayerType(
        gettext_lazy("Self-attention (restricted)"),
        "r · n · d",
        "1",
        "n / r",
        # The window is at most n; below r this is self-attention.
        lambda n, s: np.minimum(s.r, n) * n * s.d,
        _constant,
        lambda n, s: np.maximum(1, n / s.r),
    ),
)


def complexities(measure: str, n: Values, setting: ComplexitySetting) -> Values:
    """Return a measure of every layer type of TABLE for n tokens, shape (layer type, n).

    ``measure`` is "cost", "steps" for sequential operations, or "path" for the maximum path length.

    >>> complexities("cost", np.array([1.0, 10.0]), ComplexitySetting(d=2)).tolist()
    [[2.0, 200.0], [4.0, 40.0], [12.0, 120.0], [2.0, 200.0]]
    """
    return np.stack([getattr(row, f"{measure}_at")(n, setting) for row in TABLE])


@dataclass(frozen=True)
class CostSizes:
    """The sizes of a model's layer, from which its number of operations and its memory are computed."""

    width: int  # d
    heads: int
    kv_heads: int
    head_width: int  # d_k
    value_width: int  # d_v
    hidden: int  # d_ff
    gated: bool = False
    experts_used: int = 1

    def projections(self, n: Values) -> Values:
        """Return the number of operations of the projections W_Q, W_K, W_V and W_O for n tokens.

        Each weight needs a multiplication and an addition per token.
        """
        out = self.heads * self.value_width
        into = self.heads * self.head_width + self.kv_heads * (self.head_width + self.value_width)
        return 2.0 * n * self.width * (into + out)

    def pairs(self, n: Values) -> Values:
        """Return the operations that grow with n²: q · k for all token pairs, and the weighted sums of values.

        >>> CostSizes(512, 8, 8, 64, 64, 2048).pairs(np.array([10.0])).tolist()
        [204800.0]
        """
        return 2.0 * n**2 * self.heads * (self.head_width + self.value_width)

    def feed_forward(self, n: Values) -> Values:
        """Return the operations of the feed-forward part, which has three matrices if it is gated, else two."""
        matrices = 3 if self.gated else 2
        return 2.0 * n * self.width * self.hidden * matrices * self.experts_used

    def map_bytes(self, n: Values) -> Values:
        """Return the memory of the attention maps of all heads in a layer, in bytes."""
        return FLOAT * self.heads * n**2

    @property
    def pairs_meet_feed_forward(self) -> float:
        """Return the number of tokens n at which ``pairs`` and ``feed_forward`` need equally many operations."""
        return float(self.feed_forward(np.ones(1))[0] / self.pairs(np.ones(1))[0])

    @property
    def pairs_meet_rest(self) -> float:
        """Return the number of tokens n at which ``pairs`` needs as many operations as all other parts of the layer.

        These parts are ``projections`` and ``feed_forward``.
        """
        rest = self.feed_forward(np.ones(1)) + self.projections(np.ones(1))
        return float(rest[0] / self.pairs(np.ones(1))[0])


@dataclass(frozen=True)
class QuadraticFit:
    """The curve a + b · n + c · n² with non-negative coefficients."""

    a: float
    b: float
    c: float

    def values_at(self, n: Values) -> Values:
        """Return the values of the curve at n."""
        return self.a + self.b * n + self.c * n**2

    @property
    def meet(self) -> float | None:
        """Return the n at which the linear term b · n equals the quadratic c · n²; None if either is zero."""
        return self.b / self.c if self.b > 0 and self.c > 0 else None


def fit(n: Values, measured: Values) -> QuadraticFit:
    """Fit the curve a + b · n + c · n² to measurements, with the least squared relative error.

    The coefficients are at least 0. Raise ValueError for fewer than three different n.

    >>> n = np.array([16.0, 32.0, 64.0, 128.0])
    >>> found = fit(n, 5 + 3 * n + 0.5 * n**2)
    >>> [round(value, 6) for value in (found.a, found.b, found.c)]
    [5.0, 3.0, 0.5]
    """
    if len(np.unique(n)) < 3:
        raise ValueError(f"{len(np.unique(n))} lengths came; a curve with three numbers needs at least 3.")
    terms = np.stack([np.ones_like(n), n, n**2], axis=1) / measured[:, None]
    best, least = np.zeros(3), np.inf
    for size in (1, 2, 3):  # try all subsets of terms and keep the best fit without negative coefficients
        for chosen in combinations(range(3), size):
            found, *_ = np.linalg.lstsq(terms[:, chosen], np.ones_like(n), rcond=None)
            error = float(((terms[:, chosen] @ found - 1) ** 2).sum())
            if (found >= 0).all() and error < least:
                best, least = np.zeros(3), error
                best[list(chosen)] = found
    return QuadraticFit(*(float(value) for value in best))
