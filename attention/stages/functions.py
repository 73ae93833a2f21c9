"""NumPy versions of torch's elementwise functions and reductions, with torch's names and signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Coefficients of erfc(z) = t · exp(-z² + polynomial in t) with t = 2 / (2 + z), for z >= 0. The relative error is below
# 1.2e-7 (W. H. Press et al., Numerical Recipes, section 6.2).
ERFC = (-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806,
        0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277)  # fmt: skip


def erf(x: Array) -> Array:
    """Return the error function of each element, which NumPy lacks.

    >>> erf(np.array([0.0, 0.5, -1.0, 4.0])).round(6).tolist()
    [0.0, 0.5205, -0.842701, 1.0]
    """
    size = np.abs(x.astype(np.float64))
    t = 2 / (2 + size)
    rest = t * np.exp(-size * size + np.polynomial.polynomial.polyval(t, ERFC))
    found: Array = np.where(size < SMALL, _series(size), 1 - rest) * np.sign(x)
    return found.astype(x.dtype)


SMALL = 0.5  # below this value, 1 - erfc loses precision, so the series is used


def _series(x: Array) -> Array:
    """Return 2/√π · (x - x³/3 + x⁵/10 - …), accurate to 1e-12 below ``SMALL``."""
    term, total = x.copy(), x.copy()
    for order in range(1, 10):
        term = term * -x * x / order
        total = total + term / (2 * order + 1)
    found: Array = 2 / np.sqrt(np.pi) * total
    return found


def gelu(x: Array, approximate: str = "none") -> Array:
    """Return x · Φ(x), or its tanh approximation (arXiv:1606.08415)."""
    found: Array
    if approximate == "tanh":
        found = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi).astype(x.dtype) * (x + 0.044715 * x**3)))
        return found
    found = x * 0.5 * (1 + erf(x / np.sqrt(2).astype(x.dtype)))
    return found


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + e^-x), computed without overflow."""
    small = np.exp(-np.abs(x))
    found: Array = np.where(x < 0, small, 1) / (1 + small)
    return found


def silu(x: Array, inplace: bool = False) -> Array:  # noqa: ARG001  # torch's own signature
    """Return x · sigmoid(x) (arXiv:1702.03118)."""
    return x * sigmoid(x)


def relu(x: Array, inplace: bool = False) -> Array:  # noqa: ARG001  # torch's own signature
    """Return max(x, 0)."""
    return np.maximum(x, 0)


def softmax(x: Array, dim: int = -1, _stacklevel: int = 3, dtype: Any = None) -> Array:
    """Return the softmax along an axis; the maximum is subtracted first to avoid overflow.

    >>> softmax(np.log(np.array([1.0, 3.0]))).round(6).tolist()
    [0.25, 0.75]
    """
    x = x if dtype is None else x.astype(dtype)
    powers = np.exp(x - x.max(axis=dim, keepdims=True))
    found: Array = powers / powers.sum(axis=dim, keepdims=True)
    return found


def logsumexp(x: Array, dim: Any, keepdim: bool = False) -> Array:
    """Return log Σ e^x along ``dim``."""
    top = x.max(axis=dim, keepdims=True)
    found: Array = np.log(np.exp(x - top).sum(axis=dim, keepdims=True)) + top
    return found if keepdim else np.squeeze(found, dim)


def layer_norm(
    x: Array, normalized_shape: Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Array:
    """Normalise each vector to mean 0 and variance 1, times ``weight``, plus ``bias`` (arXiv:1607.06450).

    >>> layer_norm(np.array([1.0, 3.0]), [2], eps=0.0).tolist()
    [-1.0, 1.0]
    """
    axes = tuple(range(-len(normalized_shape), 0))
    centred = x - x.mean(axis=axes, keepdims=True)
    found: Array = centred / np.sqrt(np.square(centred).mean(axis=axes, keepdims=True) + x.dtype.type(eps))
    found = found if weight is None else found * weight
    return found if bias is None else found + bias


def rms_norm(x: Array, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None) -> Array:
    """Divide each vector by its root mean square and multiply it by ``weight`` (arXiv:1910.07467).

    >>> rms_norm(np.array([3.0, 3.0]), [2], eps=0.0).tolist()
    [1.0, 1.0]
    """
    axes = tuple(range(-len(normalized_shape), 0))
    small = np.finfo(x.dtype).eps if eps is None else eps
    found: Array = x / np.sqrt(np.square(x).mean(axis=axes, keepdims=True) + x.dtype.type(small))
    return found if weight is None else found * weight


def add(x: Any, other: Any, alpha: float = 1) -> Any:
    """Return x + alpha · other."""
    return x + other if alpha == 1 else x + alpha * other


def reduce(how: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a NumPy reduction such as ``np.sum`` so that it accepts torch's ``dim``, ``keepdim`` and ``dtype``."""

    def apply_reduction(x: Array, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        axes = tuple(dim) if isinstance(dim, list | tuple) else dim
        return how(x if dtype is None else x.astype(dtype), axis=axes, keepdims=keepdim)

    return apply_reduction


def topk(x: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Array, Array]:  # noqa: ARG001  # torch's own signature
    """Return the k largest (or smallest) values along an axis, and their indices."""
    at = np.take(np.argsort(-x if largest else x, axis=dim, kind="stable"), range(k), axis=dim)
    return np.take_along_axis(x, at, axis=dim), at


def sort(x: Array, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Array, Array]:  # noqa: ARG001  # torch's own signature
    """Return the sorted values along an axis, and their indices."""
    at = np.argsort(-x if descending else x, axis=dim, kind="stable")
    return np.take_along_axis(x, at, axis=dim), at


def histc(x: Array, bins: int, min: float, max: float) -> Array:
    """Return the histogram of x in ``bins`` bins of equal width from ``min`` to ``max``."""
    found: Array = np.histogram(x, bins, (min, max))[0].astype(x.dtype)
    return found


def clamp(x: Array, min: Any = None, max: Any = None) -> Array:
    """Limit values to the range from ``min`` to ``max``."""
    return np.clip(x, min, max)


def where(condition: Array, x: Any, other: Any) -> Array:
    """Return x if the condition holds, else ``other``, elementwise.

    For the tensor method ``x.where(condition, other)``, torch passes the condition as the second argument. If the first
    argument is not boolean, it is therefore swapped with ``x``.
    """
    if condition.dtype != bool:
        condition, x = x, condition
    found: Array = np.where(condition, x, other)
    return found


# Elementwise functions of an array or of two arrays.
EACH: dict[str, Callable[..., Any]] = {
    "add": add,
    "sub": lambda x, other, alpha=1: x - alpha * other,
    "__rsub__": lambda x, other: other - x,
    "mul": lambda x, other: x * other,
    "div": lambda x, other: x / other,
    "__rdiv__": lambda x, other: other / x,
    "__floordiv__": lambda x, other: x // other,
    "neg": np.negative,
    "pow": lambda x, exponent: np.power(x, exponent),
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "square": np.square,
    "exp": np.exp,
    "log": np.log,
    "abs": np.abs,
    "ceil": np.ceil,
    "cos": np.cos,
    "sin": np.sin,
    "tanh": np.tanh,
    "erf": erf,
    "sigmoid": sigmoid,
    "gelu": gelu,
    "silu": silu,
    "relu": relu,
    "clamp": clamp,
    "where": where,
    "masked_fill": lambda x, mask, value: np.where(mask, x.dtype.type(value), x),
    "logaddexp": np.logaddexp,
    "isfinite": np.isfinite,
    "isnan": np.isnan,
    "__invert__": np.logical_not,
    "bool": lambda x: x.astype(bool),
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "ne": np.not_equal,
    "__eq__": np.equal,
}
ROWS: dict[str, Callable[..., Any]] = {
    "softmax": softmax,
    "logsumexp": logsumexp,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "sum": reduce(np.sum),
    "mean": reduce(np.mean),
    "topk": topk,
    "sort": sort,
    "histc": histc,
    "any": reduce(np.any),
    "cumsum": lambda x, dim, dtype=None: np.cumsum(x, axis=dim).astype(dtype or x.dtype),
    "tril": np.tril,
}
