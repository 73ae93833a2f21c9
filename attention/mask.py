"""Attention masks, stored as a rule (causal or sliding window) if possible, else as an array.

A causal or sliding-window mask over 8,192 tokens takes 64 MiB as an array and three integers as a rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]
Index = slice | npt.NDArray[np.intp]


def positions(index: Index, length: int) -> npt.NDArray[np.intp]:
    """Return the positions that an index selects on an axis of size ``length``.

    >>> positions(slice(1, None), 4).tolist()
    [1, 2, 3]
    """
    return np.arange(length)[index]


@dataclass(frozen=True, eq=False)
class Mask:
    """The (query, key) pairs that are visible in an attention layer.

    Query ``i`` has the position ``p = i + keys - queries``, since a cache may contain earlier keys. Key ``j`` is
    visible if all given rules allow it: ``causal`` needs ``j <= p``, ``left`` needs ``j >= p - left``, ``right`` needs
    ``j <= p + right``, and ``allowed`` needs ``allowed[i, j]``.

    >>> Mask(2, 3, causal=True).block(slice(None), slice(None)).tolist()
    [[True, True, False], [True, True, True]]
    """

    queries: int
    keys: int
    causal: bool = False
    left: int | None = None
    right: int | None = None
    allowed: BoolArray | None = None  # (query, key)

    @property
    def hides_nothing(self) -> bool:
        """Return True if the mask has no rule and no array."""
        return not self.causal and self.left is None and self.right is None and self.allowed is None

    def block(self, rows: Index, cols: Index) -> BoolArray | None:
        """Return the visible pairs of a block as flags, shape (row, col), or None if every pair is visible."""
        if self.hides_nothing:
            return None
        queries, keys = positions(rows, self.queries), positions(cols, self.keys)
        ahead = keys[None, :] - (queries[:, None] + (self.keys - self.queries))
        result = np.ones(ahead.shape, dtype=bool)
        if self.causal:
            result &= ahead <= 0
        if self.left is not None:
            result &= ahead >= -self.left
        if self.right is not None:
            result &= ahead <= self.right
        if self.allowed is not None:
            result &= self.allowed[np.ix_(queries, keys)]
        return None if result.all() else result

    @staticmethod
    def compact(allowed: BoolArray) -> Mask:
        """Return the smallest mask equal to ``allowed`` (query, key): a rule if possible, else the array.

        >>> Mask.compact(np.tril(np.ones((4, 4), dtype=bool)))
        Mask(queries=4, keys=4, causal=True, left=None, right=None, allowed=None)
        """
        queries, keys = allowed.shape
        if allowed.all():
            return Mask(queries, keys)
        rule = _band(allowed)
        if rule is not None:
            return rule
        kept = np.ascontiguousarray(allowed)
        kept.setflags(write=False)
        return Mask(queries, keys, allowed=kept)


def _band(allowed: BoolArray) -> Mask | None:
    """Return the causal or window rule equal to ``allowed`` (query, key), or None if no rule fits.

    Only the number of allowed keys and the ends of each row are compared, without another array of all pairs.
    """
    queries, keys = allowed.shape
    if queries > keys:
        return None
    first = allowed.argmax(axis=1)
    last = keys - 1 - allowed[:, ::-1].argmax(axis=1)
    if not np.array_equal(allowed.sum(axis=1), last - first + 1):
        return None
    stand = np.arange(queries) + (keys - queries)
    left, right = int((stand - first).max()), int((last - stand).max())
    same_first = np.array_equal(first, np.maximum(0, stand - left))
    same_last = np.array_equal(last, np.minimum(keys - 1, stand + right))
    if not same_first or not same_last or left < 0 or right < 0:
        return None
    return Mask(
        queries,
        keys,
        causal=right == 0,
        left=left if left < keys - 1 else None,
        right=right if 0 < right < keys - 1 else None,
    )
