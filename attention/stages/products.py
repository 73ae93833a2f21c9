"""Products of matrices and rows of tables in numpy, called as torch calls its function of that name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.stages.functions import softmax

Array = npt.NDArray[Any]


def linear(x: Array, weight: Array, bias: Any = None) -> Array:
    """x · Wᵀ + b; torch keeps W as (output, input).

    >>> linear(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), np.array([0.5])).tolist()
    [[11.5]]
    """
    found: Array = x @ weight.T
    return found if bias is None else found + bias


def addmm(x: Array, mat1: Array, mat2: Array, beta: float = 1, alpha: float = 1) -> Array:
    """x + A · B."""
    found: Array = beta * x + alpha * (mat1 @ mat2)
    return found


def baddbmm(x: Array, batch1: Array, batch2: Array, beta: float = 1, alpha: float = 1) -> Array:
    """The same for many texts at once."""
    return addmm(x, batch1, batch2, beta, alpha)


def einsum(equation: str, *operands: Any) -> Array:
    """A sum of products told by letters."""
    arrays = operands[0] if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
    return np.asarray(np.einsum(equation, *arrays, optimize=True))


def grouped_mm(x: Array, weight: Array, offs: Array, bias: Any = None, out_dtype: Any = None) -> Array:  # noqa: ARG001  # torch's own
    """Each group of rows times a matrix of its own; ``offs`` says where groups end. One expert a group."""
    found = np.zeros((len(x), weight.shape[-1]), x.dtype)
    begins = 0
    for matrix, ends in zip(weight, offs, strict=True):
        found[begins:ends] = x[begins:ends] @ matrix
        begins = int(ends)
    return found


def convolve(  # noqa: PLR0913  # torch's own signature
    x: Array,
    weight: Array,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """Windows of (text, channel, places …) times a matrix (output, channel, places …), one or two axes of places."""
    assert groups == 1
    assert {*np.ravel(dilation).tolist()} == {1}
    axes = weight.ndim - 2
    step, around = _as_tuple(stride, axes), _as_tuple(0 if padding == "valid" else padding, axes)
    x = np.pad(x, [(0, 0), (0, 0), *((size, size) for size in around)])
    windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], axis=tuple(range(2, 2 + axes)))
    windows = windows[(slice(None), slice(None), *(slice(None, None, size) for size in step))]
    places = "ab"[:axes]
    inside = "mn"[:axes]
    found: Array = np.einsum(f"tc{places}{inside},oc{inside}->to{places}", windows, weight, optimize=True)
    return found if bias is None else found + bias.reshape(-1, *[1] * axes)


def embedding(input: Array, weight: Array, *_args: Any, **_named: Any) -> Array:
    """The row of a table for each number."""
    return weight[input]


def weigh(  # noqa: PLR0913  # torch's own signature
    query: Array,
    key: Array,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """softmax(q · kᵀ · scale + mask): attention weights (…, head, query, key). A mask of bools says what is seen."""
    if enable_gqa:
        key = np.repeat(key, query.shape[-3] // key.shape[-3], axis=-3)
    by = query.dtype.type(query.shape[-1] ** -0.5 if scale is None else scale)
    scores: Array = (query @ np.swapaxes(key, -1, -2)) * by
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, -np.inf) if attn_mask.dtype == bool else scores + attn_mask
    nothing = np.isneginf(scores).all(axis=-1, keepdims=True)  # a row that sees no key gives zeros
    weights = softmax(np.where(nothing, 0, scores).astype(query.dtype))
    return np.where(nothing, 0, weights)


def attend(  # noqa: PLR0913  # torch's own signature
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Any = None,
    dropout_p: float = 0.0,  # noqa: ARG001  # torch's own
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """Attention: each query's weighted sum of values (arXiv:1706.03762, equation 1), (…, head, query, channel)."""
    if enable_gqa:
        value = np.repeat(value, query.shape[-3] // value.shape[-3], axis=-3)
    found: Array = weigh(query, key, attn_mask, is_causal, scale, enable_gqa) @ value
    return found


def _as_tuple(given: Any, axes: int) -> tuple[int, ...]:
    return (given,) * axes if isinstance(given, int) else tuple(given)


PRODUCTS: dict[str, Callable[..., Any]] = {
    "linear": linear,
    "matmul": np.matmul,
    "bmm": np.matmul,
    "addmm": addmm,
    "baddbmm": baddbmm,
    "einsum": einsum,
    "_grouped_mm": grouped_mm,
    "conv1d": convolve,
    "conv2d": convolve,
    "embedding": embedding,
    "scaled_dot_product_attention": attend,
}
