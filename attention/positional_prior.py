"""What a head gives a place whatever stands there: the token before, the first one, a special one, two further on.

Some heads look at the token before theirs in every text; that such a head links two neighbours says nothing about
them. Habits are means over a reference corpus, by head and place; a link's place is where the key stands as seen from
the query. Query rows are words; a word of several pieces gets the sum over its pieces, and gives their mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.display_tokens import DisplayToken
from attention.mask import BoolArray, FloatArray
from attention.tokens import TokenRow
from attention.trace import Trace
from attention.view import View

REACH = 8  # places to each side that are told apart; what is further counts as one place on each side
FIRST, SPECIAL = 2 * REACH + 3, 2 * REACH + 4  # after the places by distance: the first token, other special tokens
PLACES = SPECIAL + 1
HABITUAL = 0.4  # share that a head gives one distance on average from which it looks at places and not at words

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PositionalPrior:
    """Mean weight of one key at each place, (layer, head, place) float32; NaN for a place that never came."""

    means: FloatArray

    def row(self, view: View, query: int) -> FloatArray:
        """What each head usually gives the places of all keys, seen from one query, (layer, head, key)."""
        _, keys = view.trace.token_rows(view.part)
        looking = np.arange(*view.queries[query].pieces)
        found = np.nan_to_num(self.means[:, :, places(keys, looking, view.crosses)]).mean(axis=2)
        return _of_cells(found, view.keys)

    def link(self, view: View, layer: int, head: int, query: int, key: int) -> float:
        """The same for one head and one key."""
        return float(self.links(view, *(np.array([at]) for at in (layer, head, query, key)))[0])

    def links(self, view: View, layers: Indices, heads: Indices, queries: Indices, keys: Indices) -> FloatArray:
        """The same for some links, (link,)."""
        looking = np.array([view.queries[at].pieces for at in queries], dtype=np.intp).reshape(-1, 2)
        looked = np.array([view.keys[at].pieces for at in keys], dtype=np.intp).reshape(-1, 2)
        rows, cols = (ends[:, 1] - ends[:, 0] for ends in (looking, looked))
        # One entry for each piece that looks at each piece: the link it is of, and where in it.
        link = np.repeat(np.arange(len(rows)), rows * cols)
        within = np.arange(len(link)) - np.repeat(np.cumsum(rows * cols) - rows * cols, rows * cols)
        query, key = looking[link, 0] + within // cols[link], looked[link, 0] + within % cols[link]
        place = _place(view.trace.token_rows(view.part)[1], query, key, view.crosses)
        usual = np.nan_to_num(self.means[layers[link], heads[link], place])
        result: FloatArray = (np.bincount(link, usual, minlength=len(rows)) / rows).astype(np.float32)
        return result

    @property
    def positional(self) -> BoolArray:
        """Which heads look at a word for where it stands, whatever it is, (layer, head)."""
        near = self.means[:, :, 1 : 2 * REACH + 2]  # the ends stand for many places
        result: BoolArray = np.nan_to_num(near).max(axis=2) >= HABITUAL
        return result


def places(keys: TokenRow, rows: Indices, crosses: bool = False) -> Indices:
    """The place of each key as seen from some queries, (row, key), counted up to PLACES.

    >>> row = TokenRow(("[CLS]", "a", "b", "[SEP]"), (9, 1, 2, 8), (None, 0, 1, None), (0,) * 4, (None,) * 4)
    >>> (places(row, np.array([1])) - (REACH + 1)).tolist()  # the token itself has the place 0
    [[10, 0, 1, 11]]
    """
    return _place(keys, rows[:, None], np.arange(len(keys))[None, :], crosses)


def _place(keys: TokenRow, query: Indices, key: Indices, crosses: bool) -> Indices:
    ahead, special = key - query, np.array(keys.special, dtype=bool)
    found = np.clip(ahead, -REACH - 1, REACH + 1) + REACH + 1
    found = np.where(special[key], SPECIAL, found)
    if special[0] or not crosses:
        found = np.where(key == 0, FIRST, found)
    result: Indices = found if crosses else np.where(ahead == 0, REACH + 1, found)
    return result


def positional_prior(traces: Iterable[Trace], part: str | None = None) -> PositionalPrior:
    """The habits of one model's heads over the traces of a corpus, which must not be empty."""
    sums, counts = np.zeros(()), np.zeros(())
    for trace in traces:
        trace.shares(part)  # of numbers with signs no mean says where a head looks
        queries, keys = trace.token_rows(part)
        rows = np.array([at for at, word in enumerate(queries.words) if word is not None], dtype=np.intp)
        place = places(keys, rows, (part or trace.part) == "cross")
        view = View(trace, part)
        layers = []
        for layer in range(view.layers):
            seen = view.visible(layer, rows)
            counted = np.ones(place.shape, dtype=bool) if seen is None else seen
            counts = counts + np.bincount(place[counted], minlength=PLACES)[None, None] * _layer_indicator(
                layer, view.layers
            )
            record = trace.records(part)[layer]
            layers.append([_place_sums(record.weights(head)[rows], place) for head in range(view.heads)])
        sums = sums + np.array(layers)
    means = np.full(sums.shape, np.nan, np.float32)
    np.divide(sums, counts, out=means, where=np.broadcast_to(counts > 0, sums.shape))
    return PositionalPrior(means)


def _layer_indicator(layer: int, layers: int) -> FloatArray:
    """1 at a layer, (layer, 1, 1)."""
    chosen: FloatArray = (np.arange(layers) == layer).astype(np.float32)[:, None, None]
    return chosen


def _place_sums(weights: FloatArray, place: Indices) -> npt.NDArray[np.float64]:
    """What one head gives each place together, (place,)."""
    sums: npt.NDArray[np.float64] = np.bincount(place.ravel(), weights.ravel(), minlength=PLACES).astype(np.float64)
    return sums


def _of_cells(found: FloatArray, cells: tuple[DisplayToken, ...]) -> FloatArray:
    """Sums over each cell's pieces, (layer, head, piece) to (layer, head, cell)."""
    bounds = np.array([cell.pieces for cell in cells])
    totals = np.concatenate([np.zeros((*found.shape[:2], 1)), found.cumsum(axis=2, dtype=np.float64)], axis=2)
    result: FloatArray = (totals[:, :, bounds[:, 1]] - totals[:, :, bounds[:, 0]]).astype(np.float32)
    return result
