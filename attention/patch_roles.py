"""Roles of heads on pictures, such as attention to neighbouring patches, and attention between two picture regions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.excess import visible_word_pairs
from attention.mask import BoolArray, FloatArray
from attention.measures import entropy
from attention.pictures import Grid
from attention.record import EVERYTHING
from attention.roles import EVEN, LEAST, MOST_ROWS
from attention.trace import Trace
from attention.view import View

EDGE_HEADS_EVEN = 1e-6  # relative variance below which the weights of all patches count as equal


def edge_score(rows: FloatArray, grid: Grid) -> FloatArray:
    """Return a score for how compact a shape each head's attention forms on the patches, (layer, head).

    ``rows`` (layer, head, key) has a row of attention for each head. The score, -1 to 1, is the row's total weight on
    patches, times the spatial autocorrelation (Moran's I) of the square roots of the weights. Noise and isolated bright
    patches score near 0, and a compact object scores near the total weight on patches.

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
    differ = spread > EDGE_HEADS_EVEN * patches.mean(axis=-1)
    found: FloatArray = (share * np.divide(alike, spread, out=np.zeros_like(alike), where=differ)).astype(np.float32)
    return found


Region = tuple[int, int, int, int]  # (top, left, bottom, right): first row, first column, last row, last column, from 0
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RegionLinks:
    """The weight from a first region of a picture to a second in each head, and its expected weight.

    Both are (layer, head) float32. ``weights`` is the total weight on the second region, averaged over the patches of
    the first. ``usual`` is the same number for the patches outside the first region, or NaN if there are none.
    """

    weights: FloatArray
    usual: FloatArray

    @property
    def beyond(self) -> FloatArray:
        """Return the weight minus the expected weight, shape (layer, head), from -1 to 1.

        It is above 0 if the first region attends to the second more than other patches do.
        """
        found: FloatArray = self.weights - self.usual
        return found


def pack(region: Region) -> str:
    """Encode a region (top, left, bottom, right) as a compact string for a URL; ``unpack`` is the inverse.

    >>> pack((0, 1, 2, 3)), unpack("0-1-2-3", Grid(3, 4, 1, (0, 0, 1, 1)))
    ('0-1-2-3', (0, 1, 2, 3))
    """
    return "-".join(map(str, region))


def unpack(packed: str, grid: Grid) -> Region | None:
    """Decode a region from a URL, or return None if it is invalid for the grid.

    >>> unpack("2-0-1-1", Grid(3, 4, 1, (0, 0, 1, 1))), unpack("nowhere", Grid(3, 4, 1, (0, 0, 1, 1)))
    (None, None)
    """
    words = packed.split("-")
    if len(words) != 4 or not all(word.isascii() and word.isdigit() and len(word) < 6 for word in words):
        return None
    return parse_region(list(map(int, words)), grid)


def parse_region(ends: object, grid: Grid) -> Region | None:
    """Return the region (top, left, bottom, right) in ``ends``, or None if it is invalid for the grid.

    ``ends`` must be a list or tuple of four integers: rows and columns of patches, counted from 0, both ends included.
    """
    if not isinstance(ends, list | tuple) or len(ends) != 4 or not all(type(end) is int for end in ends):
        return None
    top, left, bottom, right = ends
    return (top, left, bottom, right) if 0 <= top <= bottom < grid.rows and 0 <= left <= right < grid.columns else None


def tokens_of(region: Region, grid: Grid) -> Indices:
    """Return the indices of the tokens of a region's patches.

    >>> tokens_of((0, 1, 1, 2), Grid(2, 3, 1, (0, 0, 1, 1))).tolist()
    [2, 3, 5, 6]
    """
    top, left, bottom, right = region
    rows, columns = np.arange(top, bottom + 1), np.arange(left, right + 1)
    return (grid.start + rows[:, None] * grid.columns + columns[None]).ravel().astype(np.intp)


def region_links(view: View, queries: Indices, keys: Indices) -> RegionLinks:
    """Measure the attention of the query tokens ``queries`` to the key tokens ``keys`` in every head.

    ``view`` must show tokens, not words.
    """
    records = view.trace.shares(view.part)
    found: list[list[tuple[float, float]]] = []
    for layer, record in enumerate(record.quick() for record in records):
        counted = visible_word_pairs(view, layer, np.arange(len(view.queries)), keys)
        counted[queries] = False
        many = counted.sum(axis=0)
        row = []
        for head in range(record.heads):
            weights = record.weights(head, EVERYTHING, keys)
            sums = np.where(counted, weights, 0).sum(axis=0)
            usual = np.divide(sums, many, out=np.full(len(keys), np.nan, np.float32), where=many > 0)
            row.append((float(weights[queries].mean(axis=0).sum()), float(usual.sum())))
        found.append(row)
    both = np.array(found, np.float32)
    return RegionLinks(both[..., 0], both[..., 1])


SHIFTS = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
PATCH_ROLES = ("itself", *SHIFTS, "neighbours", "row", "column", "alone", "broad")

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PatchEvidence:
    """The share of each head's attention on the keys of each role on a picture, and its chance level.

    A role is a set of keys, such as the neighbours of the query's patch. ``shares`` maps a role to an array (layer,
    head): the attention on its keys, 0 to 1, averaged over all patches that have such keys, NaN if there are none.
    ``chance`` is the same number for uniform attention.
    """

    shares: Mapping[str, Numbers]
    chance: Mapping[str, float]  # shares of uniform attention

    def role(self, layer: int, head: int) -> str:
        """Return the narrowest role that receives at least the share LEAST of a head's attention.

        A role is a set of keys, such as the patch to the left of the query's. Neighbours, row and column contain
        narrower roles, so they are tested later. If there is no such role, return "broad" for nearly uniform attention,
        else "".
        """
        for name in PATCH_ROLES[:-1]:
            if self.shares[name][layer, head] >= LEAST:
                return name
        return "broad" if self.shares["broad"][layer, head] >= EVEN else ""


def observe_patches(trace: Trace, part: str) -> PatchEvidence:
    """Measure how much attention every head gives each role on a picture.

    Raise ValueError for a trace of a text.
    """
    grid = trace.source.grid
    if grid is None:
        raise ValueError("Roles of patches need a picture, not a text.")
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
    """Return the patches to measure: all of them, or evenly spaced patches of a large grid.

    >>> sampled_patches(Grid(2, 2, 1, (0, 0, 2, 2))).tolist()
    [1, 2, 3, 4]
    """
    found = np.linspace(0, len(grid) - 1, min(len(grid), MOST_ROWS)).round().astype(np.intp)
    return grid.start + found


def places(grid: Grid, rows: Indices, count: int) -> dict[str, BoolArray]:
    """Return the keys of each role for some query patches, as a mapping from role to flags (row, token).

    A role is a set of keys, such as the neighbours of the query's patch. ``rows`` are the token indices of the query
    patches, and ``count`` is the number of tokens.

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
