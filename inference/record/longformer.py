"""Longformer's way of reporting attention, made into whole maps (arXiv:2004.05150).

Each token looks at a window around itself and at a few global tokens; global tokens look at everything, through
projections of their own. The model reports the window and the columns of the global tokens in one array, the rows of
the global tokens in another.
"""

from __future__ import annotations

import torch
from torch import Tensor


def full_map(local: Tensor, window: int, rows: Tensor | None, real: slice) -> Tensor:
    """One sample's map, (head, query, key), rows of real tokens sum to one.

    ``local`` is (head, query, global + window + 1): first the columns of the global tokens, then the key at place
    ``p`` of the window is ``query + p - window / 2``. ``rows`` is (head, key, global) or None without global tokens;
    ``real`` is where the sample's own tokens stand.

    >>> full_map(torch.full((1, 3, 3), 1 / 3), 2, None, slice(0, 3))[0].ceil().int().tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """
    columns = local.shape[-1] - (window + 1)
    maps = _unband(local[..., columns:])
    if rows is None or columns == 0:
        return maps
    # The model leaves the rows of global tokens empty here, which tells which ones they are: a window never sums to 0.
    places = real.start + (local[0, real].sum(-1) == 0).nonzero().flatten()
    count, queries = len(places), maps.shape[1]
    maps[:, :, places] += local[..., :count]
    maps[:, places] = rows[:, :queries, :count].transpose(1, 2)
    return maps


def _unband(band: Tensor) -> Tensor:
    """(head, query, window + 1), key = query + place - window / 2, as (head, query, key)."""
    heads, queries, width = band.shape
    half = width // 2
    wide = band.new_zeros(heads, queries, queries + 2 * half)
    places = torch.arange(queries, device=band.device)[:, None] + torch.arange(width, device=band.device)[None, :]
    wide.scatter_(2, places.expand(heads, -1, -1), band)
    return wide[:, :, half : half + queries]
