"""Where a number stood before it was moved: a formula that only moves numbers is asked to move their places."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from attention.stages.data_movement import KINDS, MOVES

Array = npt.NDArray[Any]


def origin(
    name: str, given: tuple[Any, ...], named: dict[str, Any], output: int, at: tuple[int, ...]
) -> tuple[Array, tuple[int, ...]] | None:
    """The array and the place that a moved number comes from; None for one that was put in, such as padding.

    ``output`` is which of several results it stands in.

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
        """The numbers 1, 2, 3, … in the place of an array of fractions: 0 is then none of any array."""
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
