"""The terms that sum to a number in a forward pass, and the place from which an operation copied a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.stages.formulas import KINDS, MOVES, weigh
from attention.stages.functions import EACH
from i18n import gettext_lazy

Array = npt.NDArray[Any]


def origin(
    name: str, given: tuple[Any, ...], named: dict[str, Any], output: int, at: tuple[int, ...]
) -> tuple[Array, tuple[int, ...]] | None:
    """Return the input array and the index from which an operation that only moves data copied a number.

    ``name`` is the operation, such as "cat", and ``given`` and ``named`` are its positional and keyword arguments.
    ``at`` is the index of the number in the result, or in the result number ``output`` if there are several. Return
    None for a constant such as padding.

    >>> x, y = np.zeros((2, 3), np.float32), np.zeros((2, 2), np.float32)
    >>> found = origin("cat", ([x, y],), {"dim": 1}, 0, (1, 4))
    >>> found[0] is y, found[1]
    (True, (1, 1))
    """
    if name in KINDS:
        return given[0], at
    arrays: list[Array] = []
    starts = [1]

    def places(x: Any) -> Any:
        """Replace floating-point arrays by consecutive numbers from 1 and floats by 0, which marks no origin."""
        if isinstance(x, np.ndarray) and np.issubdtype(x.dtype, np.floating):
            arrays.append(x)
            starts.append(starts[-1] + x.size)
            return np.arange(starts[-2], starts[-1]).reshape(x.shape)
        if isinstance(x, float):
            return 0
        return type(x)(places(one) for one in x) if isinstance(x, list | tuple) and not hasattr(x, "_fields") else x

    made = MOVES[name](*(places(x) for x in given), **{key: places(x) for key, x in named.items()})
    found = int((made[output] if isinstance(made, tuple) else made)[at])
    if found < 1:
        return None
    which = int(np.searchsorted(starts, found, side="right")) - 1
    place = np.unravel_index(found - starts[which], arrays[which].shape)
    return arrays[which], tuple(int(axis) for axis in place)


Place = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Factor:
    """A factor of a term: its value, and its origin, the array ``of`` and the index ``at`` in it.

    ``of`` is None for an intermediate value, which has a ``name`` instead.
    """

    value: float
    of: Array | None = None
    at: Place = ()
    name: str = ""


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms that sum to a number of a forward pass; ``factors(k)`` returns the factors of term k.

    ``values`` (term,) are the terms, and ``how`` their kind. "products": each term is the product of its factors.
    "sum": each term is a single value, or a multiple of it. "function": the only term is the named function of its
    factors. "choice": the only term is one of the inputs.
    """

    how: str
    values: Array
    factors: Callable[[int], tuple[Factor, ...]]


def terms(name: str, given: tuple[Any, ...], named: dict[str, Any], gave: Array, at: Place) -> Terms:
    """Return the terms of the number at index ``at`` of ``gave``, the result of the operation ``name``.

    ``given`` and ``named`` are the positional and keyword arguments of the operation.

    >>> x, weight, bias = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), np.array([0.5])
    >>> found = terms("linear", (x, weight, bias), {}, np.array([[11.5]]), (0, 0))
    >>> found.values.tolist(), [factor.value for factor in found.factors(1)]
    ([3.0, 8.0, 0.5], [2.0, 4.0])
    """
    made = OPENED.get(name)
    if made is not None:
        return made(gave, at, *given, **named)
    arrays = [x for x in (*given, *named.values()) if isinstance(x, np.ndarray)] if name in EACH else []
    return _single_term("function", float(gave[at]), *(factor(x, at) for x in arrays))


def factor(x: Any, at: Place) -> Factor:
    """Return the element of the operand ``x`` that entered the number at index ``at`` of an elementwise result.

    The operand is an array, which may have been broadcast, or a plain number.
    """
    if not isinstance(x, np.ndarray):
        return Factor(float(x))
    own = tuple(0 if size == 1 else place for size, place in zip(x.shape, at[len(at) - x.ndim :], strict=True))
    return Factor(float(x[own]), x, own)


def _single_term(how: str, value: float, *factors: Factor) -> Terms:
    return Terms(how, np.array([value]), lambda _term: factors)


def _make_terms(how: str, rows: Sequence[tuple[Factor, ...]], values: Array | None = None) -> Terms:
    products = [float(np.prod([one.value for one in row])) for row in rows]
    return Terms(how, np.array(products) if values is None else values, rows.__getitem__)


def _dot(one: Array, at: Callable[[int], Place], other: Array, there: Callable[[int], Place], size: int) -> Terms:
    """Return the terms of Σ one[at(k)] · other[there(k)] over k."""

    def factors(term: int) -> tuple[Factor, ...]:
        here, yonder = at(term), there(term)
        return Factor(float(one[here]), one, here), Factor(float(other[yonder]), other, yonder)

    values = [float(one[at(k)]) * float(other[there(k)]) for k in range(size)]
    return Terms("products", np.array(values, np.float64), factors)


def _product_term(found: Terms, *more: Factor) -> Terms:
    """Add a term that is the product of ``more``; return ``found`` if there are no factors."""
    if not more:
        return found
    count, value = len(found.values), float(np.prod([one.value for one in more]))
    return Terms(found.how, np.append(found.values, value), lambda term: more if term == count else found.factors(term))


def _bias_factor(array: Array | None, at: Place) -> tuple[Factor, ...]:
    """Return the factor of a bias, or nothing without a bias."""
    return () if array is None else (factor(array, at),)


def _linear(_gave: Array, at: Place, x: Array, weight: Array, bias: Array | None = None) -> Terms:
    *row, column = at
    found = _dot(x, lambda k: (*row, k), weight, lambda k: (column, k), x.shape[-1])
    return _product_term(found, *_bias_factor(bias, (column,)))


def _matmul(_gave: Array, at: Place, one: Array, other: Array) -> Terms:
    *batch, row, column = at
    inner = one.shape[-1]
    ahead = [tuple(0 if n == 1 else b for n, b in zip(x.shape[:-2], batch[len(batch) - x.ndim + 2 :], strict=True))
             for x in (one, other)]  # fmt: skip
    return _dot(one, lambda k: (*ahead[0], row, k), other, lambda k: (*ahead[1], k, column), inner)


def _addmm(_gave: Array, at: Place, x: Array, one: Array, other: Array, beta: float = 1, alpha: float = 1) -> Terms:  # noqa: PLR0913  # torch's own signature
    found = _matmul(_gave, at, one, other)
    scaled = Terms(found.how, found.values * alpha, lambda k: (*found.factors(k), *_scale(alpha)))
    return _product_term(scaled, factor(x, at), *_scale(beta))


def _baddbmm(  # noqa: PLR0913  # torch's own signature
    gave: Array, at: Place, x: Array, batch1: Array, batch2: Array, beta: float = 1, alpha: float = 1
) -> Terms:
    return _addmm(gave, at, x, batch1, batch2, beta, alpha)


def _scale(by: float) -> tuple[Factor, ...]:
    return () if by == 1 else (Factor(float(by)),)


def _grouped_mm_terms(_gave: Array, at: Place, x: Array, weight: Array, offs: Array, **_named: Any) -> Terms:
    row, column = at
    group = int(np.searchsorted(offs, row, side="right"))
    return _dot(x, lambda k: (row, k), weight, lambda k: (group, k, column), x.shape[-1])


def _embedding(_gave: Array, at: Place, input: Array, weight: Array, *_args: Any, **_named: Any) -> Terms:
    return _make_terms("choice", [(factor(weight, (int(input[at[:-1]]), at[-1])),)])


def _attention(  # noqa: PLR0913  # torch's own signature
    _gave: Array,
    at: Place,
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,  # noqa: ARG001  # torch's own signature
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Terms:
    """Return the terms of Σ weight · value; the weights are intermediate values without an array."""
    *batch, head, row, column = at
    shares = weigh(query, key, attn_mask, is_causal, scale, enable_gqa)[(*batch, head, row)]
    own = head if value.shape[-3] == query.shape[-3] else head // (query.shape[-3] // value.shape[-3])
    rows = [
        (Factor(float(share), name=gettext_lazy("weight of key {key}", key=k)), factor(value, (*batch, own, k, column)))
        for k, share in enumerate(shares)
    ]
    return _make_terms("products", rows)


def _layer_norm(  # noqa: PLR0913  # torch's own signature
    _gave: Array,
    at: Place,
    x: Array,
    normalized_shape: Any,
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
) -> Terms:
    """Return the terms of x · w/σ - mean · w/σ + b."""
    axes = len(normalized_shape)
    vector = x[at[: len(at) - axes]].astype(np.float64)
    by = Factor(float(1 / np.sqrt(vector.var() + eps)), name="1/√(variance + ε)")
    gain = () if weight is None else (factor(weight, at[len(at) - axes :]),)
    mean = Factor(-float(vector.mean()), name=gettext_lazy("minus the mean"))
    found = _make_terms("products", [(factor(x, at), by, *gain), (mean, by, *gain)])
    return _product_term(found, *_bias_factor(bias, at[len(at) - axes :]))


def _softmax(gave: Array, at: Place, x: Array, dim: int = -1, *_args: Any, **_named: Any) -> Terms:
    """Return the single term e^(x - largest) / Σ e^(x - largest)."""
    line = x[tuple(slice(None) if axis == dim % x.ndim else place for axis, place in enumerate(at))].astype(np.float64)
    top = float(line.max())
    total = Factor(float(np.exp(line - top).sum()), name="Σ e^(x - largest)")
    return _single_term(
        "function", float(gave[at]), factor(x, at), Factor(top, name=gettext_lazy("the largest x")), total
    )


def _add(_gave: Array, at: Place, x: Any, other: Any, alpha: float = 1) -> Terms:
    one, two = factor(x, at), factor(other, at)
    return _make_terms("sum", [(one,), (two, *_scale(alpha))])


def _sub(_gave: Array, at: Place, x: Any, other: Any, alpha: float = 1) -> Terms:
    return _add(_gave, at, x, other, -alpha)


def _mul(_gave: Array, at: Place, x: Any, other: Any) -> Terms:
    return _make_terms("products", [(factor(x, at), factor(other, at))])


def _reduction_terms(mean: bool) -> Callable[..., Terms]:
    def reduction_terms(
        _gave: Array, at: Place, x: Array, dim: Any = None, keepdim: bool = False, **_named: Any
    ) -> Terms:
        wanted = range(x.ndim) if dim is None else dim if isinstance(dim, list | tuple) else [dim]
        axes = sorted(axis % x.ndim for axis in wanted)
        rest = iter([place for axis, place in enumerate(at) if axis not in axes] if keepdim else at)
        fixed = tuple(slice(None) if axis in axes else next(rest) for axis in range(x.ndim))
        values = x[fixed].astype(np.float64)
        by = 1 / values.size if mean else 1.0

        def factors(term: int) -> tuple[Factor, ...]:
            free = iter(np.unravel_index(term, values.shape))
            place = tuple(int(next(free)) if isinstance(part, slice) else part for part in fixed)
            return Factor(float(x[place]), x, place), *_scale(by)

        return Terms("products" if mean else "sum", values.reshape(-1) * by, factors)

    return reduction_terms


def _where_terms(_gave: Array, at: Place, condition: Array, x: Any, other: Any) -> Terms:
    if condition.dtype != bool:  # torch's tensor method passes the condition second; see functions.where
        condition, x = x, condition
    return _make_terms("choice", [(factor(x if factor(condition, at).value else other, at),)])


def _masked_fill(_gave: Array, at: Place, x: Any, mask: Array, value: Any) -> Terms:
    return _where_terms(_gave, at, mask, value, x)


OPENED: dict[str, Callable[..., Terms]] = {
    "linear": _linear,
    "matmul": _matmul,
    "bmm": _matmul,
    "addmm": _addmm,
    "baddbmm": _baddbmm,
    "_grouped_mm": _grouped_mm_terms,
    "embedding": _embedding,
    "scaled_dot_product_attention": _attention,
    "layer_norm": _layer_norm,
    "softmax": _softmax,
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "sum": _reduction_terms(mean=False),
    "mean": _reduction_terms(mean=True),
    "where": _where_terms,
    "masked_fill": _masked_fill,
}


def flat(array: Array) -> Array:
    """Reshape an array to a matrix (token, number), with the last axis but one, the tokens, as rows.

    An array with a single axis becomes a single row.
    """
    rows = array if array.ndim > 1 else array.reshape(1, -1)
    found: Array = np.moveaxis(rows, -2, 0).reshape(rows.shape[-2], -1)
    return found


def array_index(shape: tuple[int, ...], row: int, column: int) -> tuple[int, ...]:
    """Return the index, in an array of this shape, of the element that ``flat`` puts at (row, column).

    >>> array_index((1, 3, 5, 8), 4, 9)
    (0, 1, 4, 1)
    """
    if len(shape) == 1:
        return (column,)
    others = np.unravel_index(column, (*shape[:-2], shape[-1]))
    return (*(int(axis) for axis in others[:-1]), row, int(others[-1]))


def row_and_column(shape: tuple[int, ...], place: tuple[int, ...]) -> tuple[int, int]:
    """Return the (row, column) at which ``flat`` puts the element at index ``place`` of an array of this shape.

    >>> row_and_column((1, 3, 5, 8), (0, 1, 4, 1))
    (4, 9)
    """
    if len(place) == 1:
        return 0, place[0]
    others = np.ravel_multi_index((*place[:-2], place[-1]), (*shape[:-2], shape[-1]))
    return place[-2], int(others)
