"""Statistics of attention maps, computed while a model runs: the strongest links and the measures of every head."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from attention.strongest_links import LEAST, Columns, columns
from inference.record.attention_call import AttentionCall
from inference.record.attention_function import Tape, weigh
from inference.tasks.atlas import OFFSETS


@dataclass(frozen=True, eq=False)
class MapSides:
    """Boolean masks of the query and key tokens in a padded batch of attention maps.

    ``rows`` marks the queries that are words; ``special`` and ``punctuation`` mark keys. ``crosses`` is True if queries
    and keys belong to different texts.
    """

    rows: Tensor  # (text, query), True for words
    special: Tensor  # (text, key)
    punctuation: Tensor  # (text, key)
    crosses: bool


@dataclass(frozen=True, eq=False)
class LayerStatistics:
    """The strongest links and attention measures of each head of a layer, over a batch of texts.

    inference.tasks.atlas.StackStatistics describes the fields.
    """

    links: list[Columns]  # (head,), with the numbers of the batch as windows
    written: list[Columns]  # (head,)
    measures: Tensor  # (text, head, measure)
    distances: Tensor  # (text, head, bin)
    peaks: Tensor  # (text, head)
    peak_queries: Tensor
    peak_keys: Tensor
    row_peaks: Tensor  # (text, head, query)
    received: Tensor  # (text, head, key)


Take = Callable[[AttentionCall, Tensor], None]


@dataclass(eq=False, kw_only=True)
class MapTape(Tape):
    """A tape that passes the attention maps (text, head, query, key) of each call to ``take``, and stores nothing."""

    take: Take
    passed: int = field(default=0)

    def note(self, call: AttentionCall, lse: Tensor | None) -> None:  # noqa: ARG002  # a tape's own signature
        """Compute the maps of a call and pass them to ``take``."""
        self.take(call, weigh(call))
        self.passed += 1

    def widen(self, call: AttentionCall) -> None:
        """Do nothing for a call that repeats the queries and keys of the call before it with other values.

        Its maps are the same, so they were passed to ``take`` already.
        """


def visible_pairs(call: AttentionCall) -> Tensor:
    """Return flags (text, query, key): True if the masks of a call allow the pair in at least one head."""
    texts, _heads, queries, _ = call.query.shape
    keys = call.key.shape[2]
    if call.mask is not None:
        mask = call.mask
        seen = mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2
        return seen[..., :keys].any(1).expand(texts, queries, keys)
    seen = torch.ones(queries, keys, dtype=torch.bool)
    return (seen.tril(keys - queries) if call.looks_back else seen).expand(texts, queries, keys)


def excess_maps(maps: Tensor, rows: Tensor, visible: Tensor, crosses: bool) -> tuple[Tensor, Tensor]:
    """Return the excess of each pair, and the mean weight on each key.

    Their shapes are (text, head, query, key) and (text, head, key). The excess of a pair is its weight minus the mean
    weight that the text's other words give the same key, as in ``attention.excess.excess_map``. The mean excludes the
    weight of a token on itself. The excess is -1 if there are no other words. ``rows`` (text, query) is True for words,
    and ``visible`` (text, query, key) for pairs that the masks allow. ``crosses`` is True if queries and keys belong to
    different texts. ``maps`` must be 0 in rows of special tokens, so their excess is at most 0.
    """
    counted = rows[:, :, None] & visible
    sums = maps.sum(2)
    if not crosses:
        counted = counted & ~torch.eye(maps.shape[2], dtype=torch.bool)
        own = maps.diagonal(dim1=2, dim2=3)
        sums = sums - own
    many = counted.sum(1)[:, None].to(maps.dtype)  # (text, 1, key)
    others = many - 1
    scale = torch.where(others > 0, many / others.clamp(min=1), 0)
    shift = torch.where(others > 0, sums / others.clamp(min=1), 1)
    excess = torch.addcmul(-shift[:, :, None], maps, scale[:, :, None])
    means = sums / many.clamp(min=1)
    if not crosses:
        excess.diagonal(dim1=2, dim2=3).copy_(torch.where((many > 0) & rows[:, None], own - means, -1))
    return excess, means


def layer_statistics(  # noqa: PLR0913  # the maps, and the thresholds of both kinds of links
    maps: Tensor,
    sides: MapSides,
    visible: Tensor,
    norms: Tensor | None,
    floors: Tensor,
    written_floors: Tensor,
) -> LayerStatistics:
    """Return the strongest links and the measures of each head, from maps (text, head, query, key).

    The maps are overwritten. ``visible`` (text, query, key) is True for pairs that the masks allow. A link is collected
    if its excess reaches the head's value in ``floors`` (head,). It is collected in a second list if its weight times
    norm reaches the head's value in ``written_floors`` (head,). ``norms`` (text, head, key) are the norms of the value
    vectors after the output matrix; if they are None, the second list is empty.
    """
    maps.mul_(sides.rows[:, None, :, None])
    excess, means = excess_maps(maps, sides.rows, visible, sides.crosses)
    links = _links_above(excess, maps, floors)
    written: list[Columns] = [columns([], [], [], [], []) for _ in range(maps.shape[1])]
    if norms is not None:
        written = _links_above(maps * norms[:, :, None], maps, written_floors)
    row_peaks = excess.amax(3)
    peaks, queries = row_peaks.max(2)
    best = excess.gather(2, queries[:, :, None, None].expand(-1, -1, 1, excess.shape[3]))[:, :, 0]
    measures, distances = _measures(maps, sides)
    row_peaks = torch.where(sides.rows[:, None], row_peaks.clamp(min=0), 0)
    return LayerStatistics(links, written, measures, distances, peaks, queries, best.argmax(2), row_peaks, means)


def _links_above(strength: Tensor, maps: Tensor, floors: Tensor) -> list[Columns]:
    """Return the links of each head with at least the strength of its floor."""
    _texts, heads, queries, keys = maps.shape
    places = (strength >= floors.clamp(min=float(LEAST))[:, None, None]).flatten().nonzero()[:, 0]
    values = strength.flatten()[places].numpy()
    weights = maps.flatten()[places].numpy()
    at = places.numpy()
    key, query = at % keys, at // keys % queries
    head, window = at // (keys * queries) % heads, at // (keys * queries * heads)
    order = np.argsort(head, kind="stable")
    bounds = np.searchsorted(head[order], np.arange(heads + 1))
    return [
        columns(values[some], weights[some], window[some], query[some], key[some])
        for some in (order[start:stop] for start, stop in pairwise(bounds))
    ]


def _measures(maps: Tensor, sides: MapSides) -> tuple[Tensor, Tensor]:
    """Return the measures (text, head, measure) and the distances (text, head, bin), means over rows of words."""
    texts, heads, queries, keys = maps.shape
    rows = sides.rows.sum(1).clamp(min=1).to(maps.dtype)[:, None]
    by_offset = (maps.reshape(texts * heads, -1) @ offset_features(queries, keys)).reshape(texts, heads, -1)
    by_offset = by_offset / rows[:, :, None]
    sums = maps.sum(2)
    entropy = torch.special.entr(maps).sum((2, 3)) / np.log(2) / rows
    shares = [(sums * flags[:, None]).sum(2) / rows for flags in (sides.special, sides.punctuation)]
    distances = by_offset[:, :, :-1]
    near = [distances[:, :, OFFSETS + 1 + step] for step in (-1, 0, 1)]
    values = [entropy, by_offset[:, :, -1], shares[0], sums[:, :, 0] / rows, *near, shares[1]]
    return torch.stack(values, dim=2), distances


@lru_cache(maxsize=64)
def offset_features(queries: int, keys: int) -> Tensor:
    """Return features of each (query, key) pair, shape (query · key, bin + 1): the bin of its offset, and its distance.

    The offset is key position minus query position, and its bin is a one-hot vector. The distance is the absolute
    offset, in tokens.
    """
    offset = torch.arange(keys)[None, :] - torch.arange(queries)[:, None]
    bins = torch.nn.functional.one_hot(offset.clamp(-OFFSETS - 1, OFFSETS + 1) + OFFSETS + 1, 2 * OFFSETS + 3)
    found = torch.cat([bins, offset.abs()[:, :, None]], dim=2).float()
    return found.reshape(queries * keys, -1)
