"""What a vision transformer's head is for, as far as its map on the grid tells: where patches look, in shares.

Roles are places as seen from a patch: itself, the patch one to the left, right, up or down (heads that look at one
shift do what a convolution does, arXiv:1911.03584), its eight neighbours, its row, its column, the tokens without a
patch (CLS and registers, arXiv:2309.16588). Broad is entropy over that of even attention; how local heads are is what
arXiv:2108.08810 measures by distance. Names and thresholds are ours, those of attention/roles.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.grid import Grid
from attention.mask import BoolArray
from attention.measures import entropy
from attention.roles import EVEN, LEAST, MOST_ROWS
from attention.trace import Trace

SHIFTS = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
PATCH_ROLES = ("itself", *SHIFTS, "neighbours", "row", "column", "alone", "broad")

Indices = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PatchEvidence:
    """Mean shares of attention over the patches that have such a place, each (layer, head); NaN where none has."""

    shares: Mapping[str, Numbers]
    chance: Mapping[str, float]  # what even attention would give

    def role(self, layer: int, head: int) -> str:
        """What a head is named after: the narrowest role with at least half of its attention; "" where there is none.

        Neighbours, row and column hold the narrower ones, and are asked after them.
        """
        for name in PATCH_ROLES[:-1]:
            if self.shares[name][layer, head] >= LEAST:
                return name
        return "broad" if self.shares["broad"][layer, head] >= EVEN else ""


def observe_patches(trace: Trace, part: str) -> PatchEvidence:
    """The roles of every head that looks at a picture; raises ValueError for a trace of a text."""
    grid = trace.source.grid
    if grid is None:
        raise ValueError("Roles of patches are told of a picture; a text came.")
    count = len(trace.source)
    rows = sampled_patches(grid)
    wanted = places(grid, rows, count)
    there = {name: target.any(axis=1) for name, target in wanted.items()}
    records = [record.quick() for record in trace.shares(part)]
    shares = {name: np.full((len(records), records[0].heads), np.nan) for name in PATCH_ROLES}
    even = np.log2(count)
    for layer, record in enumerate(records):
        for head in range(record.heads):
            weights = record.weights(head, rows)
            for name, target in wanted.items():
                if there[name].any():
                    shares[name][layer, head] = weights[target].sum() / there[name].sum()
            shares["broad"][layer, head] = entropy(weights).mean() / even
    chance = {name: float(target[there[name]].mean()) if there[name].any() else np.nan
              for name, target in wanted.items()}  # fmt: skip
    return PatchEvidence(shares, {**chance, "broad": 1.0})


def sampled_patches(grid: Grid) -> Indices:
    """The patches that stand for all: every one, or evenly spaced ones of many.

    >>> sampled_patches(Grid(2, 2, 1, (0, 0, 2, 2))).tolist()
    [1, 2, 3, 4]
    """
    found = np.linspace(0, len(grid) - 1, min(len(grid), MOST_ROWS)).round().astype(np.intp)
    return grid.start + found


def places(grid: Grid, rows: Indices, count: int) -> dict[str, BoolArray]:
    """Which of ``count`` tokens are in each role as seen from some patches, (row, token).

    >>> found = places(Grid(2, 3, 1, (0, 0, 3, 2)), np.array([5]), 7)  # row 1, column 1, both counted from 0
    >>> [(name, np.flatnonzero(target[0]).tolist()) for name, target in found.items()][:5]
    [('itself', [5]), ('left', [4]), ('right', [6]), ('up', [2]), ('down', [])]
    """
    tokens = np.arange(count)
    patch = (tokens >= grid.start) & (tokens < grid.start + len(grid))
    looked, look = (np.divmod(at - grid.start, grid.columns) for at in (tokens, rows))
    down, along = (there[None] - here[:, None] for there, here in zip(looked, look, strict=True))
    found = {"itself": (down == 0) & (along == 0)}
    found |= {name: (down == step[0]) & (along == step[1]) for name, step in SHIFTS.items()}
    own = found["itself"]
    found["neighbours"] = (np.abs(down) <= 1) & (np.abs(along) <= 1) & ~own
    found["row"] = (down == 0) & ~own
    found["column"] = (along == 0) & ~own
    within: dict[str, BoolArray] = {name: target & patch for name, target in found.items()}
    within["alone"] = np.broadcast_to(~patch, own.shape)
    return within
