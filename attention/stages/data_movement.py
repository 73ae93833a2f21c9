"""What only moves numbers, in numpy: every number of the result is one of a given array.

Called as torch calls its function of that name; "dim" is an axis, counted from the end where it is negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def view(x: Array, *shape: Any) -> Array:
    """The same numbers in rows of another length; one size may be -1.

    >>> view(np.arange(6), 2, -1).shape, view(np.arange(6), (3, 2)).shape
    ((2, 3), (3, 2))
    """
    return x.reshape(_sizes(shape))


def expand(x: Array, *shape: Any) -> Array:
    """One row shown as many; -1 leaves a size as it is."""
    sizes = _sizes(shape)
    own = (1,) * (len(sizes) - x.ndim) + x.shape
    return np.broadcast_to(x, [mine if size == -1 else size for size, mine in zip(sizes, own, strict=True)])


def unsqueeze(x: Array, dim: int) -> Array:
    """One more axis, of size 1."""
    return np.expand_dims(x, dim)


def squeeze(x: Array, dim: int | None = None) -> Array:
    """One axis fewer, where it has size 1."""
    if dim is None:
        return np.squeeze(x)
    return np.squeeze(x, dim) if x.shape[dim] == 1 else x


def flatten(x: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
    """Neighbouring axes as one."""
    start, end = start_dim % x.ndim, end_dim % x.ndim
    return x.reshape(*x.shape[:start], -1, *x.shape[end + 1 :])


def chunk(x: Array, chunks: int, dim: int = 0) -> tuple[Array, ...]:
    """So many pieces of an axis, as long as each other but for the last."""
    return split(x, -(-x.shape[dim] // chunks), dim)


def split(x: Array, split_size_or_sections: Any, dim: int = 0) -> tuple[Array, ...]:
    """Pieces of an axis, all of one length or of these.

    >>> [piece.tolist() for piece in split(np.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    sizes, whole = split_size_or_sections, x.shape[dim]
    ends = range(sizes, whole, sizes) if isinstance(sizes, int) else np.cumsum(sizes)[:-1].tolist()
    return tuple(np.split(x, list(ends), axis=dim))


def unbind(x: Array, dim: int = 0) -> tuple[Array, ...]:
    """The pieces of an axis, which is gone."""
    return tuple(np.moveaxis(x, dim, 0))


def join(tensors: Sequence[Array], dim: int = 0) -> Array:
    """Arrays one after the other along an axis; torch passes over those that are no more than an empty row."""
    return np.concatenate([one for one in tensors if one.shape != (0,)], axis=dim)


def as_strided(x: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Array:
    """Numbers picked from the whole by so many places between neighbours of each axis."""
    steps = [np.arange(count) * step for count, step in zip(size, stride, strict=True)]
    places = sum(np.ix_(*steps), np.array(storage_offset or 0))
    return x.reshape(-1)[places]


def repeat(x: Array, *times: Any) -> Array:
    """The whole, several times along each axis."""
    return np.tile(x, _sizes(times))


def repeat_interleave(x: Array, repeats: Any, dim: int | None = None) -> Array:
    """Each piece of an axis, several times in a row."""
    return np.repeat(x, repeats, axis=dim)


def gather(x: Array, dim: int, index: Array) -> Array:
    """The numbers that ``index`` names along an axis."""
    other = tuple(slice(0, size) if axis != dim % x.ndim else slice(None) for axis, size in enumerate(index.shape))
    return np.take_along_axis(x[other], index, axis=dim)


def pad(x: Array, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Array:
    """Numbers put around, told from the last axis on: (before, after, before, after, …)."""
    assert mode == "constant"
    pairs = [(pad[at], pad[at + 1]) for at in range(0, len(pad), 2)]
    widths = [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]
    return np.pad(x, widths, constant_values=0 if value is None else value)


def index_put(x: Array, at: Any, value: Any) -> Array:
    """The array with other numbers at some places; the given one stays as it is."""
    found = x.copy()
    found[at] = value
    return found


def identity(x: Array, *_args: Any, **_named: Any) -> Array:
    """As it is: what torch does for the memory, for a device, or in training only."""
    return x


def cast(x: Array, *args: Any, **named: Any) -> Array:
    """Another kind of number; all fractions are float32 here or finer."""
    kind = next((given for given in (*args, *named.values()) if isinstance(given, np.dtype)), None)
    return x if kind is None else x.astype(kind, copy=False)


def _sizes(given: Sequence[Any]) -> tuple[int, ...]:
    return tuple(given[0]) if len(given) == 1 and not isinstance(given[0], int) else tuple(given)


KINDS = ("to", "type_as", "float", "long", "int", "type")  # the same numbers, kept otherwise
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
