"""Which head draws the picture's shapes: where its look at patches is even among neighbours, and yet not everywhere."""

from __future__ import annotations

import numpy as np

from attention.grid import Grid
from attention.mask import FloatArray

EVEN = 1e-6  # of the mean weight: patches that differ by less are all alike, but for rounding


def edge_score(rows: FloatArray, grid: Grid) -> FloatArray:
    """How far each head's look at patches makes shapes, (layer, head, key) -> (layer, head), from -1 to 1.

    The share that patches get, times Moran's I of its root: how alike neighbours are among patches that differ. Noise
    and single bright patches are near 0, an object that stands out from its ground is near the share itself.

    >>> grid = Grid(2, 4, 0, (0.0, 0.0, 8.0, 4.0))
    >>> halves, chequered = [1, 1, 0, 0, 1, 1, 0, 0], [1, 0, 1, 0, 0, 1, 0, 1]
    >>> [round(float(one), 2) for one in edge_score(np.array([[halves, chequered]], np.float32) / 4, grid)[0]]
    [0.6, -1.0]
    """
    patches = rows[..., grid.start : grid.start + len(grid)].astype(np.float64)
    share = patches.sum(axis=-1)
    field = np.sqrt(patches).reshape(*patches.shape[:-1], grid.rows, grid.columns)
    field -= field.mean(axis=(-2, -1), keepdims=True)
    across, down = field[..., 1:] * field[..., :-1], field[..., 1:, :] * field[..., :-1, :]
    neighbours = across.shape[-2] * across.shape[-1] + down.shape[-2] * down.shape[-1]
    alike = (across.sum(axis=(-2, -1)) + down.sum(axis=(-2, -1))) / max(neighbours, 1)
    spread = (field**2).mean(axis=(-2, -1))
    differ = spread > EVEN * patches.mean(axis=-1)
    found: FloatArray = (share * np.divide(alike, spread, out=np.zeros_like(alike), where=differ)).astype(np.float32)
    return found
