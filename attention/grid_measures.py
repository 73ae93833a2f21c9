"""How far patches of a picture look, and what the tokens without a place keep: numbers that need the grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.grid import Grid
from attention.mask import FloatArray

Place = tuple[int, int] | None  # a patch's row and column; None for CLS and registers


def between_patches(queries: Sequence[Place], keys: Sequence[Place]) -> FloatArray:
    """How far each query's patch is from each key's, in a straight line, (query, key), in patches.

    NaN where one of the two is none, such as CLS or a register.

    >>> between_patches([(0, 0), None], [(3, 4), (0, 0)]).tolist()
    [[5.0, 0.0], [nan, nan]]
    """
    one, other = (np.array([(np.nan, np.nan) if at is None else at for at in side]) for side in (queries, keys))
    away: FloatArray = np.hypot(*np.moveaxis(one[:, None] - other[None], -1, 0)).astype(np.float32)
    return away


def patch_distance(weights: FloatArray, away: FloatArray) -> FloatArray:
    """Mean distance at which each patch looks at other patches, (..., query, key) -> (..., query), in patches.

    ``away`` as of between_patches. What goes to tokens without a place is left out; NaN for a query that has none, or
    that gives nothing to patches.

    >>> away = between_patches([None, (0, 0)], [None, (3, 4), (0, 0)])
    >>> patch_distance(np.array([[0.5, 0.5, 0.0], [0.6, 0.2, 0.2]], np.float32), away).tolist()
    [nan, 2.5]
    """
    there = np.isfinite(away)
    mass = np.einsum("...qk,qk->...q", weights, there.astype(np.float32))
    far = np.einsum("...qk,qk->...q", weights, np.nan_to_num(away))
    result: FloatArray = np.divide(far, mass, out=np.full_like(far, np.nan), where=mass > 0)
    return result


def kept_by(weights: FloatArray, grid: Grid, tokens: int) -> dict[int, FloatArray]:
    """What share of each query's attention every token without a place keeps, by token: CLS, registers.

    ``weights`` are (..., query, key) over all ``tokens``; each share is (..., query).

    >>> kept_by(np.array([[0.25, 0.5, 0.25]]), Grid(1, 2, 1, (0, 0, 2, 1)), 3)[0].tolist()
    [0.25]
    """
    return {token: weights[..., token] for token in range(tokens) if grid.place(token) is None}
