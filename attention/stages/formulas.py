"""NumPy versions of the torch operations in a traced forward pass, by the name of the torch function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.stages.functions import EACH, ROWS, softmax

Array = npt.NDArray[Any]


def view(x: Array, *shape: Any) -> Array:
    """Reshape an array; a size may be -1.

    >>> view(np.arange(6), 2, -1).shape, view(np.arange(6), (3, 2)).shape
    ((2, 3), (3, 2))
    """
    return x.reshape(_sizes(shape))


def expand(x: Array, *shape: Any) -> Array:
    """Broadcast an array to a shape; -1 keeps the size of an axis."""
    sizes = _sizes(shape)
    own = (1,) * (len(sizes) - x.ndim) + x.shape
    return np.broadcast_to(x, [mine if size == -1 else size for size, mine in zip(sizes, own, strict=True)])


def unsqueeze(x: Array, dim: int) -> Array:
    """Insert an axis of size 1."""
    return np.expand_dims(x, dim)


def squeeze(x: Array, dim: int | None = None) -> Array:
    """Remove an axis if it has size 1; without ``dim``, remove all such axes."""
    if dim is None:
        return np.squeeze(x)
    return np.squeeze(x, dim) if x.shape[dim] == 1 else x


def flatten(x: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
    """Merge the neighbouring axes from ``start_dim`` to ``end_dim``."""
    start, end = start_dim % x.ndim, end_dim % x.ndim
    return x.reshape(*x.shape[:start], -1, *x.shape[end + 1 :])


def chunk(x: Array, chunks: int, dim: int = 0) -> tuple[Array, ...]:
    """Split an axis into ``chunks`` chunks of equal length, except for the last."""
    return split(x, -(-x.shape[dim] // chunks), dim)


def split(x: Array, split_size_or_sections: Any, dim: int = 0) -> tuple[Array, ...]:
    """Split an axis into chunks of a fixed length or of a list of lengths.

    >>> [piece.tolist() for piece in split(np.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    sizes, whole = split_size_or_sections, x.shape[dim]
    ends = range(sizes, whole, sizes) if isinstance(sizes, int) else np.cumsum(sizes)[:-1].tolist()
    return tuple(np.split(x, list(ends), axis=dim))


def unbind(x: Array, dim: int = 0) -> tuple[Array, ...]:
    """Return the slices along an axis, without this axis."""
    return tuple(np.moveaxis(x, dim, 0))


def join(tensors: Sequence[Array], dim: int = 0) -> Array:
    """Concatenate arrays along an axis; arrays of shape (0,) are skipped, as in torch."""
    return np.concatenate([one for one in tensors if one.shape != (0,)], axis=dim)


def as_strided(x: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Array:
    """Return a view of the flattened array with the given size, strides and offset, like torch's."""
    steps = [np.arange(count) * step for count, step in zip(size, stride, strict=True)]
    places = sum(np.ix_(*steps), np.array(storage_offset or 0))
    return x.reshape(-1)[places]


def repeat(x: Array, *times: Any) -> Array:
    """Tile an array along each axis."""
    return np.tile(x, _sizes(times))


def repeat_interleave(x: Array, repeats: Any, dim: int | None = None) -> Array:
    """Repeat each element along an axis ``repeats`` times."""
    return np.repeat(x, repeats, axis=dim)


def gather(x: Array, dim: int, index: Array) -> Array:
    """Select elements along an axis by ``index``."""
    other = tuple(slice(0, size) if axis != dim % x.ndim else slice(None) for axis, size in enumerate(index.shape))
    return np.take_along_axis(x[other], index, axis=dim)


def pad(x: Array, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Array:
    """Pad an array with a constant; ``pad`` lists (before, after) pairs from the last axis on."""
    assert mode == "constant"
    pairs = [(pad[at], pad[at + 1]) for at in range(0, len(pad), 2)]
    widths = [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]
    return np.pad(x, widths, constant_values=0 if value is None else value)


def index_put(x: Array, at: Any, value: Any) -> Array:
    """Return a copy with ``value`` at the indices ``at``."""
    found = x.copy()
    found[at] = value
    return found


def identity(x: Array, *_args: Any, **_named: Any) -> Array:
    """Return ``x`` unchanged, for operations that change only device or memory layout, and for dropout."""
    return x


def cast(x: Array, *args: Any, **named: Any) -> Array:
    """Convert an array to the first dtype among the arguments; return it unchanged if there is none."""
    kind = next((given for given in (*args, *named.values()) if isinstance(given, np.dtype)), None)
    return x if kind is None else x.astype(kind, copy=False)


def _sizes(given: Sequence[Any]) -> tuple[int, ...]:
    return tuple(given[0]) if len(given) == 1 and not isinstance(given[0], int) else tuple(given)


KINDS = ("to", "type_as", "float", "long", "int", "type")  # operations that change the dtype only
MOVES: dict[str, Callable[..., Any]] = {
    "view": view,
    "reshape": view,
    "reshape_as": lambda x, other: x.reshape(other.shape),
    "expand": expand,
    "unsqueeze": unsqueeze,
    "squeeze": squeeze,
    "flatten": flatten,
    "transpose": lambda x, dim0, dim1: np.swapaxes(x, dim0, dim1),
    "permute": lambda x, *dims: np.transpose(x, _sizes(dims)),
    "T": np.transpose,
    "mT": lambda x: np.swapaxes(x, -1, -2),
    "t": np.transpose,
    "__getitem__": lambda x, at: x[at],
    "__setitem__": index_put,
    "chunk": chunk,
    "split": split,
    "unbind": unbind,
    "cat": join,
    "concat": join,
    "stack": lambda tensors, dim=0: np.stack(tensors, axis=dim),
    "repeat": repeat,
    "repeat_interleave": repeat_interleave,
    "gather": gather,
    "index_select": lambda x, dim, index: np.take(x, index, axis=dim),
    "as_strided": as_strided,
    "flip": lambda x, dims: np.flip(x, tuple(dims)),
    "pad": pad,
    **dict.fromkeys(("contiguous", "clone", "detach", "dropout", "cpu"), identity),
    "to": cast,
    "type_as": lambda x, other: x.astype(other.dtype, copy=False),
    "float": lambda x: x.astype(np.float32, copy=False),
    "long": lambda x: x.astype(np.int64, copy=False),
    "int": lambda x: x.astype(np.int32, copy=False),
    "type": cast,
}


def linear(x: Array, weight: Array, bias: Any = None) -> Array:
    """Return x · Wᵀ + b; torch stores W as (output, input).

    >>> linear(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), np.array([0.5])).tolist()
    [[11.5]]
    """
    found: Array = x @ weight.T
    return found if bias is None else found + bias


def addmm(x: Array, mat1: Array, mat2: Array, beta: float = 1, alpha: float = 1) -> Array:
    """Return beta · x + alpha · (mat1 · mat2)."""
    found: Array = beta * x + alpha * (mat1 @ mat2)
    return found


def baddbmm(x: Array, batch1: Array, batch2: Array, beta: float = 1, alpha: float = 1) -> Array:
    """Return beta · x + alpha · (batch1 · batch2) for each element of a batch."""
    return addmm(x, batch1, batch2, beta, alpha)


def einsum(equation: str, *operands: Any) -> Array:
    """Evaluate an Einstein summation, with operands as arguments or as a list."""
    arrays = operands[0] if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
    return np.asarray(np.einsum(equation, *arrays, optimize=True))


def grouped_mm(x: Array, weight: Array, offs: Array, bias: Any = None, out_dtype: Any = None) -> Array:  # noqa: ARG001  # torch's own signature
    """Multiply each group of rows by its own matrix, for example a group per expert.

    ``offs`` holds the index at which each group ends.
    """
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
    """Convolve (batch, channel, position …) with (output, channel, position …), in 1-D or 2-D."""
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
    """Return the row of ``weight`` for each index."""
    return weight[input]


def weigh(  # noqa: PLR0913  # torch's own signature
    query: Array,
    key: Array,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """Return softmax(q · kᵀ · scale + mask), the attention weights (…, head, query, key).

    A boolean mask is True for visible keys; another mask is added to the scores.
    """
    if enable_gqa:
        key = np.repeat(key, query.shape[-3] // key.shape[-3], axis=-3)
    by = query.dtype.type(query.shape[-1] ** -0.5 if scale is None else scale)
    scores: Array = (query @ np.swapaxes(key, -1, -2)) * by
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, -np.inf) if attn_mask.dtype == bool else scores + attn_mask
    nothing = np.isneginf(scores).all(axis=-1, keepdims=True)  # a row with every key masked becomes zeros
    weights = softmax(np.where(nothing, 0, scores).astype(query.dtype))
    return np.where(nothing, 0, weights)


def attend(  # noqa: PLR0913  # torch's own signature
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Any = None,
    dropout_p: float = 0.0,  # noqa: ARG001  # torch's own signature
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """Return scaled dot-product attention, shape (…, head, query, channel) (arXiv:1706.03762, equation 1)."""
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


FORMULAS = {**MOVES, **EACH, **ROWS, **PRODUCTS}


def strip_inplace_mark(name: str) -> str:
    """Return the name under which the NumPy version of a torch operation is listed.

    In-place forms such as ``add_`` and operator methods such as ``__iadd__`` get the name of the plain function,
    because the NumPy versions always return new arrays. Other names are returned unchanged.

    >>> (
    ...     strip_inplace_mark("add_"),
    ...     strip_inplace_mark("__iadd__"),
    ...     strip_inplace_mark("__rsub__"),
    ...     strip_inplace_mark("_grouped_mm"),
    ... )
    ('add', 'add', '__rsub__', '_grouped_mm')
    """
    if name in FORMULAS:
        return name
    bare = name.strip("_")
    if name.startswith("__"):
        return SPELT.get(name, name)
    return bare if bare in FORMULAS else name


# Operator methods and aliases, and the functions that they call.
SPELT = {
    "__add__": "add", "__radd__": "add", "__iadd__": "add", "__sub__": "sub", "__isub__": "sub",
    "__mul__": "mul", "__rmul__": "mul", "__imul__": "mul", "__truediv__": "div", "__itruediv__": "div",
    "__rtruediv__": "__rdiv__", "__pow__": "pow", "__matmul__": "matmul", "__neg__": "neg",
    "true_divide": "div",
}  # fmt: skip
