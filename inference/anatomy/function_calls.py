"""The calls of one pass: functions of torch by name, with what each was given and what it gave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.stages.data_movement import MOVES

Array = npt.NDArray[Any]

NESTED = (dict, list, tuple, slice)
MASKED = 1e30  # what is larger was set by a mask


@dataclass(eq=False)
class Value:
    """A tensor of the pass: an input, a weight by its name in the file, or what a call made."""

    code: str  # how the program names it
    shape: tuple[int, ...]
    call: FunctionCall | None = None
    output: int = 0  # which of the call's results
    weight: str = ""
    grown: bool = False  # made from weights, so that it is computed anew
    array: Array | None = None  # of masks and places that a call reads, which are the pass's rules and not its results


@dataclass(eq=False)
class FunctionCall:
    """One function of torch on tensors. ``given`` and ``named`` are its arguments with a Value for each tensor.

    ``away`` is the largest difference to numpy's result, and ``size`` the largest number of it; ``refused`` says in
    words why there is none.
    """

    number: int
    name: str
    path: str  # of the module that called it
    layer: tuple[str, int] | None  # the list of layers that it runs in, and which of its runs
    given: tuple[Any, ...]
    named: dict[str, Any]
    line: str = ""  # of PyTorch
    shape: tuple[int, ...] = ()
    grown: bool = False
    fractions: bool = False  # gives fractions, not places or bools
    away: float = 0.0
    size: float = 0.0
    refused: str = ""

    @property
    def moves(self) -> bool:
        """Whether it moves numbers only."""
        return self.name in MOVES

    def reads(self) -> list[Value]:
        """The tensors among its arguments, in order."""
        return [leaf for leaf in leaves((self.given, self.named)) if isinstance(leaf, Value)]


def leaves(tree: Any) -> list[Any]:
    """What arguments hold, however they are nested."""
    found: list[Any] = []
    map_leaves(tree, found.append)
    return found


def map_leaves(tree: Any, change: Callable[[Any], Any]) -> Any:
    """Arguments with each leaf changed.

    >>> map_leaves((1, [2, slice(3, None)]), lambda leaf: leaf and 10 * leaf)
    (10, [20, slice(30, None, None)])
    """
    if not isinstance(tree, NESTED):  # first: nearly all are
        return change(tree)
    if isinstance(tree, dict):
        return {key: map_leaves(one, change) for key, one in tree.items()}
    if isinstance(tree, list):
        return [map_leaves(one, change) for one in tree]
    if isinstance(tree, tuple):
        return tuple(map_leaves(one, change) for one in tree)
    return slice(map_leaves(tree.start, change), map_leaves(tree.stop, change), map_leaves(tree.step, change))


def largest_difference(anew: Array, own: Array) -> tuple[float, float]:
    """The largest difference between two arrays, and the largest number of the second; what a mask sets is no number.

    >>> largest_difference(np.array([1.0, -np.inf]), np.array([1.5, -np.inf]))
    (0.5, 1.5)
    """
    real = np.abs(own) < MASKED
    same = (anew == own) | (np.isnan(anew) & np.isnan(own)) | ~real & (anew < -MASKED)
    if not own.size:
        return 0.0, 0.0
    away = np.abs(np.where(same, 0, anew) - np.where(same, 0, own))
    return float(away.max()), float(np.abs(np.where(real, own, 0)).max())
