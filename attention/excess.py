"""The excess of links: the weight of a link minus its expected weight.

There are two expected weights, both in the same head. The column mean is the mean weight that the text's other words
give the same key. The positional prior is the mean weight that the same relative position, such as the previous token,
gets in other texts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.mask import BoolArray, FloatArray
from attention.tokens import TokenRow
from attention.trace import Trace
from attention.view import DisplayToken, View

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ColumnMeans:
    """The weights on each key, summed over the words of a text in each head, to compute their means.

    The weights of special tokens, and a word's weight on itself, do not count. The rows of long texts are sampled. The
    view is passed to each method instead of being stored, so that the sums can outlive the trace.
    """

    rows: Rows  # queries in the sums, (row,)
    sums: FloatArray  # (layer, head, key)
    counts: Rows  # (layer, key)

    def means(self) -> FloatArray:
        """Return the mean weight that words give each key, shape (layer, head, key).

        It is 0 if no word may attend to the key.
        """
        counts = np.broadcast_to(self.counts[:, None], self.sums.shape)
        means: FloatArray = np.divide(self.sums, counts, out=np.zeros_like(self.sums), where=counts > 0)
        return means

    @property
    def nbytes(self) -> int:
        """Return the memory of the arrays in bytes."""
        return int(self.rows.nbytes + self.sums.nbytes + self.counts.nbytes)

    def usual_row(self, view: View, query: int, weights: FloatArray) -> FloatArray:
        """Return the mean weight that the words other than ``query`` give each key, shape (layer, head, key).

        ``weights`` (layer, head, key) are those of ``query`` itself, which are subtracted from the sums. The value is
        NaN if there are no other words.
        """
        counted = self._included_weights(view, np.array([query]), None)[:, 0]
        return self._without(weights, counted, self.sums, self.counts)

    def usual_column(self, view: View, key: int, weights: FloatArray) -> FloatArray:
        """Return, for each query, the mean weight on ``key`` of all other words, shape (layer, head, query).

        ``weights`` (layer, head, query) are those of each query on ``key``, which are subtracted from the sum. The
        value is NaN if there are no other words.
        """
        counted = self._included_weights(view, np.arange(len(view.queries)), np.array([key]))[:, :, 0]
        return self._without(weights, counted, self.sums[:, :, key, None], self.counts[:, key, None])

    def _included_weights(self, view: View, rows: Rows, cols: Rows | None) -> BoolArray:
        """Return True for each weight that is part of the sums, shape (layer, row, col)."""
        summed = np.isin(rows, self.rows)[:, None]
        return np.array([summed & visible_word_pairs(view, layer, rows, cols) for layer in range(view.layers)])

    @staticmethod
    def _without(weights: FloatArray, counted: BoolArray, sums: FloatArray, counts: Rows) -> FloatArray:
        """Return the mean over the counted words without the query itself, at least 0 despite rounding."""
        left = sums - np.where(counted[:, None], weights, 0)
        others = np.broadcast_to((counts - counted)[:, None], left.shape)
        means: FloatArray = np.full(left.shape, np.nan, np.float32)
        np.divide(left, others, out=means, where=others > 0)
        return np.maximum(means, 0, out=means)


def visible_word_pairs(view: View, layer: int, rows: Rows, cols: Rows | None = None) -> BoolArray:
    """Return True for each pair of query and key that counts in column means, shape (row, col).

    The query in ``rows`` is not a special token, differs from the key, and may attend to it. The pairs are the same in
    all heads of the layer. ``cols`` are the keys, by default all.
    """
    words = np.array([not view.queries[row].special for row in rows], dtype=bool)
    keys = np.arange(len(view.keys)) if cols is None else cols
    counted: BoolArray = np.repeat(words[:, None], len(keys), axis=1)
    if not view.crosses:
        counted &= rows[:, None] != keys[None, :]
    visible = view.visible(layer, rows, cols)
    return counted if visible is None else counted & visible


def excess_map(weights: FloatArray, counted: BoolArray) -> FloatArray:
    """Return a head's weights minus the mean weight that the other rows give the same key, shape (row, key).

    ``counted`` marks the pairs that enter the mean (see ``visible_word_pairs``). The value is NaN if no other row is
    counted.

    >>> excess_map(np.array([[0, 0.75], [0, 0.25], [0, 0.5]], np.float32), np.ones((3, 2), bool)).tolist()
    [[0.0, 0.375], [0.0, -0.375], [0.0, 0.0]]
    """
    mine = np.where(counted, weights, 0)
    others = counted.sum(axis=0) - counted
    usual = np.full_like(weights, np.nan)
    np.divide(mine.sum(axis=0) - mine, others, out=usual, where=others > 0)
    result: FloatArray = weights - usual
    return result


REACH = 8  # number of distinct offsets to each side; larger offsets share a place per side
FIRST, SPECIAL = 2 * REACH + 3, 2 * REACH + 4  # places after those by offset: the first token, other special tokens
PLACES = SPECIAL + 1
HABITUAL = 0.4  # mean weight at a single offset from which a head counts as positional

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PositionalPrior:
    """The mean weight that each head gives a key at each relative position, in other texts.

    ``means`` is (layer, head, place) float32, NaN if a place was never observed. A place is the number of a relative
    position, as computed by the function ``places``.
    """

    means: FloatArray

    def row(self, view: View, query: int) -> FloatArray:
        """Return the prior weight of each key, given its position relative to ``query``, shape (layer, head, key)."""
        _, keys = view.trace.token_rows(view.part)
        looking = np.arange(*view.queries[query].pieces)
        found = np.nan_to_num(self.means[:, :, places(keys, looking, view.crosses)]).mean(axis=2)
        return _of_cells(found, view.keys)

    def link(self, view: View, layer: int, head: int, query: int, key: int) -> float:
        """Return the prior weight of a link, from the position of its key relative to its query."""
        return float(self.links(view, *(np.array([at]) for at in (layer, head, query, key)))[0])

    def links(self, view: View, layers: Indices, heads: Indices, queries: Indices, keys: Indices) -> FloatArray:
        """Return the prior weight of each of several links, shape (link,); the arguments have the same shape."""
        looking = np.array([view.queries[at].pieces for at in queries], dtype=np.intp).reshape(-1, 2)
        looked = np.array([view.keys[at].pieces for at in keys], dtype=np.intp).reshape(-1, 2)
        rows, cols = (ends[:, 1] - ends[:, 0] for ends in (looking, looked))
        # Expand each link to its pairs of query token and key token: link number and position within the link.
        link = np.repeat(np.arange(len(rows)), rows * cols)
        within = np.arange(len(link)) - np.repeat(np.cumsum(rows * cols) - rows * cols, rows * cols)
        query, key = looking[link, 0] + within // cols[link], looked[link, 0] + within % cols[link]
        place = _place(view.trace.token_rows(view.part)[1], query, key, view.crosses)
        usual = np.nan_to_num(self.means[layers[link], heads[link], place])
        result: FloatArray = (np.bincount(link, usual, minlength=len(rows)) / rows).astype(np.float32)
        return result

    @property
    def positional(self) -> BoolArray:
        """Return True for each head with a mean weight of at least HABITUAL at some offset, (layer, head).

        An offset is the position of the key minus that of the query.
        """
        near = self.means[:, :, 1 : 2 * REACH + 2]  # the outermost places collect many offsets, so leave them out
        result: BoolArray = np.nan_to_num(near).max(axis=2) >= HABITUAL
        return result


def places(keys: TokenRow, rows: Indices, crosses: bool = False) -> Indices:
    """Return a number below PLACES for the position of each key relative to each query, (row, key).

    The number, called the place of the key, is its offset, limited to ±(REACH + 1), plus REACH + 1. The first token and
    other special tokens have two places of their own, whatever their offset. ``rows`` are the positions of the queries.
    Set ``crosses`` for cross-attention, in which queries and keys are different texts.

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
    """Estimate the positional prior of a model's heads from traces of reference texts, at least one trace.

    ``part`` is the stack, by default the first of each trace.
    """
    sums, counts = np.zeros(()), np.zeros(())
    for trace in traces:
        trace.shares(part)  # raise Unavailable for signed values, whose mean shows no direction of attention
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
    """Return 1 at ``layer`` and 0 elsewhere, shape (layer, 1, 1)."""
    chosen: FloatArray = (np.arange(layers) == layer).astype(np.float32)[:, None, None]
    return chosen


def _place_sums(weights: FloatArray, place: Indices) -> npt.NDArray[np.float64]:
    """Return the sum of a head's weights at each place, shape (place,)."""
    sums: npt.NDArray[np.float64] = np.bincount(place.ravel(), weights.ravel(), minlength=PLACES).astype(np.float64)
    return sums


def _of_cells(found: FloatArray, cells: tuple[DisplayToken, ...]) -> FloatArray:
    """Sum over the tokens of each cell, (layer, head, token) -> (layer, head, cell)."""
    bounds = np.array([cell.pieces for cell in cells])
    totals = np.concatenate([np.zeros((*found.shape[:2], 1)), found.cumsum(axis=2, dtype=np.float64)], axis=2)
    result: FloatArray = (totals[:, :, bounds[:, 1]] - totals[:, :, bounds[:, 0]]).astype(np.float32)
    return result


KEPT = 3  # number of links per head


@dataclass(frozen=True)
class DefaultLink:
    """The link that is selected when a text is opened; ``query`` and ``key`` are tokens or words of the view."""

    layer: int
    head: int
    query: int
    key: int


@dataclass(frozen=True, eq=False)
class TopLinks:
    """The links with the largest excess in each head, as arrays (layer, head, link).

    If a head has fewer links, the remaining queries are -1.
    """

    queries: Indices
    keys: Indices
    weights: FloatArray
    excess: FloatArray

    def best(self, view: View, habits: PositionalPrior | None, heads: BoolArray | None = None) -> DefaultLink | None:
        """Return the link whose weight is furthest above the larger of its column mean and its positional prior.

        Heads that mostly attend to a fixed offset are used only if there are no other heads. ``heads`` (layer, head)
        selects the candidates; None means all heads. Return None if no candidate has a link between words.
        """
        beyond = np.where(self.queries >= 0, self.excess, -np.inf)
        if habits is not None:
            there = np.nonzero(self.queries >= 0)
            placed = habits.links(view, there[0], there[1], self.queries[there], self.keys[there])
            beyond[there] = np.minimum(beyond[there], self.weights[there] - placed)
            free = np.where(habits.positional[..., None], -np.inf, beyond)
            beyond = free if np.isfinite(free if heads is None else free[heads]).any() else beyond
        if heads is not None:
            beyond = np.where(heads[..., None], beyond, -np.inf)
        if not np.isfinite(beyond).any():
            return None
        layer, head, at = np.unravel_index(int(beyond.argmax()), beyond.shape)
        return DefaultLink(int(layer), int(head), int(self.queries[layer, head, at]), int(self.keys[layer, head, at]))


def pairs(view: View, rows: Indices) -> BoolArray:
    """Return True for each query and key that are different words, shape (row, key).

    Punctuation and special tokens do not count as words. ``rows`` are the indices of the queries.
    """
    asked, looked = _is_word([view.queries[row] for row in rows]), _is_word(view.keys)
    linked: BoolArray = asked[:, None] & looked[None, :]
    if not view.crosses:
        written = _word_numbers(view)
        linked &= written[rows][:, None] != written[None, :]
    return linked


def top_links(
    weights: FloatArray, linked: BoolArray, others: Indices, sums: FloatArray
) -> tuple[Indices, Indices, FloatArray, FloatArray]:
    """Return each head's KEPT links with the largest excess: their rows, keys, weights and excess.

    Each result has the shape (..., link). Each row contributes only its largest weight. ``weights`` is (..., row, key),
    and ``linked`` (row, key) is True for pairs that count as links. ``sums`` (..., key) is the total weight that words
    give a key, the word of the row included, and ``others`` (key,) the number of these words without the word of the
    row. If a head has fewer links, the remaining rows are -1.
    """
    keys = np.where(linked, weights, -1).argmax(axis=-1)
    mine = np.take_along_axis(weights, keys[..., None], axis=-1)[..., 0]
    many, given = others[keys], np.take_along_axis(sums, keys, axis=-1)
    usual = np.divide(given - mine, many, out=np.zeros_like(mine), where=many > 0)
    excess = np.where(linked[np.arange(keys.shape[-1]), keys] & (many > 0), mine - usual, -np.inf)
    order = np.argsort(-excess, axis=-1)[..., :KEPT]
    there = np.isfinite(np.take_along_axis(excess, order, axis=-1))

    def take_top(values: npt.NDArray[Any], missing: int) -> npt.NDArray[Any]:
        found = np.full((*keys.shape[:-1], KEPT), missing, values.dtype)
        found[..., : order.shape[-1]] = np.where(there, np.take_along_axis(values, order, axis=-1), missing)
        return found

    rows = np.broadcast_to(np.arange(keys.shape[-1]), keys.shape)
    return take_top(rows, -1), take_top(keys, -1), take_top(mine, 0), take_top(excess.astype(np.float32), 0)


def _is_word(cells: Sequence[DisplayToken]) -> BoolArray:
    """Return True for each cell with a letter or a digit, (cell,); special tokens do not count."""
    return np.array([not cell.special and any(map(str.isalnum, cell.text)) for cell in cells], dtype=bool)


def _word_numbers(view: View) -> Indices:
    """Return the number of the written word of each cell, (cell,); "didn", "'" and "t" share a number.

    In scripts without spaces, such as Chinese, the words of the tokenizer are used.
    """
    row, _ = view.trace.token_rows(view.part)
    texts = (view.trace.text, view.trace.pair or "")
    numbers = [0]
    for at in range(1, len(row)):
        left, right = row.spans[at - 1], row.spans[at]
        joined = row.goes_on(at)
        if not joined and left and right and row.segments[at - 1] == row.segments[at] and left[1] == right[0]:
            text = texts[row.segments[at]] if row.segments[at] < len(texts) else ""
            joined = 0 < right[0] < len(text) and _uses_spaces(text[right[0] - 1]) and _uses_spaces(text[right[0]])
        numbers.append(numbers[-1] + (not joined))
    return np.array([numbers[cell.pieces[0]] for cell in view.queries], dtype=np.intp)


def _uses_spaces(letter: str) -> bool:
    """Return True if the letter's script puts spaces between words."""
    return unicodedata.category(letter) != "Lo"
