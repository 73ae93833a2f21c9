"""Every head at a glance, in one pass over the maps: thumbnails, and each measure's number per head."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from attention.default_link import TopLinks, pairs, top_links
from attention.excess import ColumnMeans, visible_word_pairs
from attention.mask import FloatArray
from attention.measures import MEASURES, Rows, as_shares, attention_received
from attention.record import Unavailable
from attention.trace import SIGNED
from attention.view import View

TOGETHER = 2**18  # weights of some heads that are looked at together; more at once are no faster


@dataclass(frozen=True, eq=False)
class HeadSummary:
    """Every head at a glance, made in one pass over the maps."""

    thumbnails: FloatArray  # (layer, head, row, col): the largest weight of each cell
    measures: dict[str, FloatArray]  # by name, (layer, head), of the keys shown; NaN without attention
    received: FloatArray  # (key,), mean over queries and all heads that attend
    crowd: ColumnMeans  # what the words of the text give each key together
    own: TopLinks  # the links to open the text with
    sampled: bool  # from some rows only, because the text is long
    signed: bool = False  # of numbers with signs: then there are no measures, and the rest is told of their sizes

    @property
    def nbytes(self) -> int:
        """Bytes that it holds, but for the few of measures."""
        return int(self.thumbnails.nbytes + self.received.nbytes) + self.crowd.nbytes

    @property
    def entropy(self) -> FloatArray:
        """(layer, head), mean over queries, bits; raises Unavailable for numbers with signs."""
        return self._measure("entropy")

    @property
    def distance(self) -> FloatArray:
        """(layer, head), mean over queries, in cells of the view; raises Unavailable for numbers with signs."""
        return self._measure("distance")

    def _measure(self, name: str) -> FloatArray:
        if self.signed:
            raise Unavailable(SIGNED)
        return self.measures[name]


def summarize_heads(view: View, size: int) -> HeadSummary:
    """Thumbnails of at most (size, size) and the measures of every head; of numbers with signs, no measures."""
    sample = view.sample(size)
    rows = np.arange(len(view.queries)) if sample is None else sample
    measures = {} if view.is_signed else {measure.name: measure.of(view, rows) for measure in MEASURES}
    grids: list[FloatArray] = []
    found: dict[str, list[FloatArray]] = {name: [] for name in measures}
    total = np.zeros(len(view.keys))
    asked, counts, sums, links = pairs(view, rows), [], [], []
    for at, layer in enumerate(view.maps(size)):
        counted = visible_word_pairs(view, at, rows)
        counts.append(counted.sum(axis=0))
        linked = asked & counted & (at in view.attending)
        for weights in _head_chunks(layer, len(rows) * len(view.keys)):
            grids += [view.thumbnail(one, size) for one in weights]
            sizes = np.abs(weights) if view.is_signed else weights
            shares = as_shares(sizes)
            for name, of in measures.items():
                found[name].append(of(shares) if at in view.attending else np.full(len(shares), np.nan))
            total += attention_received(sizes).sum(axis=0, dtype=np.float64)
            sums.append(np.einsum("hqk,qk->hk", sizes, counted))
            links.append(top_links(sizes, linked, counts[-1] - 1, sums[-1]))
    shape = (view.layers, view.heads)
    return HeadSummary(
        np.array(grids, dtype=np.float32).reshape(*shape, *grids[0].shape),
        {name: np.concatenate(values).astype(np.float32).reshape(shape) for name, values in found.items()},
        (total / max(1, len(view.attending) * view.heads)).astype(np.float32),
        ColumnMeans(rows, np.concatenate(sums).astype(np.float32).reshape(*shape, -1), np.array(counts)),
        _own_links(rows, links, shape),
        view.is_sampled(),
        view.is_signed,
    )


def _head_chunks(layer: Iterator[FloatArray], weights: int) -> Iterator[FloatArray]:
    """Some heads of a layer at a time, (head, row, key); a head has so many weights."""
    many = max(1, TOGETHER // max(1, weights))
    while heads := list(islice(layer, many)):
        yield np.stack(heads)


def _own_links(
    rows: Rows, links: Sequence[tuple[Rows, Rows, FloatArray, FloatArray]], shape: tuple[int, int]
) -> TopLinks:
    """The links of every head, their rows as queries of the view."""
    at, keys, weights, excess = (np.concatenate(values).reshape(*shape, -1) for values in zip(*links, strict=True))
    return TopLinks(np.where(at >= 0, rows[at], -1), keys, weights, excess)
