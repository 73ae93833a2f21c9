"""Every formula that a pass may be computed with, by the name of torch's function."""

from __future__ import annotations

from attention.stages.data_movement import MOVES
from attention.stages.functions import EACH, ROWS
from attention.stages.products import PRODUCTS

FORMULAS = {**MOVES, **EACH, **ROWS, **PRODUCTS}


def strip_inplace_mark(name: str) -> str:
    """The name without the mark of a change in place, which numpy never makes here.

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


# Signs by the functions that they stand for.
SPELT = {
    "__add__": "add", "__radd__": "add", "__iadd__": "add", "__sub__": "sub", "__isub__": "sub",
    "__mul__": "mul", "__rmul__": "mul", "__imul__": "mul", "__truediv__": "div", "__itruediv__": "div",
    "__rtruediv__": "__rdiv__", "__pow__": "pow", "__matmul__": "matmul", "__neg__": "neg",
    "true_divide": "div",
}  # fmt: skip
