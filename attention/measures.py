"""Measures of attention maps, and a summary of all heads in one pass over the maps."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.excess import ColumnMeans, TopLinks, pairs, top_links, visible_word_pairs
from attention.mask import FloatArray
from attention.pictures import between_patches, patch_distance
from attention.record import Unavailable
from attention.trace import SIGNED
from attention.view import DisplayToken, View
from i18n import gettext_lazy


def entropy(weights: FloatArray) -> FloatArray:
    """Return the entropy of each query's attention in bits, (..., query, key) -> (..., query).

    0 means a single key; log2(n) means uniform attention over n keys.

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    # 0 · log 0 counts as 0; adding the smallest normal number keeps the logarithm finite and changes nothing else.
    logs = np.log2(weights + np.finfo(np.float32).tiny)
    result: FloatArray = -np.einsum("...k,...k->...", weights, logs) + 0.0
    return result


def distance(weights: FloatArray, rows: npt.NDArray[np.intp] | None = None) -> FloatArray:
    """Return each query's mean attention distance in tokens, (..., query, key) -> (..., query).

    ``rows`` holds the positions of the queries; by default 0, 1, 2, ….

    >>> distance(np.array([[0.0, 0.0, 1.0]]), np.array([0])).tolist()
    [2.0]
    """
    queries = np.arange(weights.shape[-2]) if rows is None else rows
    away = np.abs(np.arange(weights.shape[-1], dtype=np.float32)[None, :] - queries.astype(np.float32)[:, None])
    result: FloatArray = np.einsum("...qk,qk->...q", weights, away)
    return result


def attention_received(weights: FloatArray) -> FloatArray:
    """Return the weight on each key, averaged over the queries, (..., query, key) -> (..., key).

    >>> attention_received(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [0.75, 0.25]
    """
    result: FloatArray = weights.mean(axis=-2)
    return result


def by_offset(weights: FloatArray, reach: int) -> FloatArray:
    """Return the mean weight at each offset, (query, key) -> (2 * reach + 1,).

    An offset is the key position minus the query position, from -reach to reach. Each mean is over the queries that
    have a key at that offset; it is 0 if there are no such queries.

    >>> by_offset(np.array([[0.0, 1.0], [1.0, 0.0]]), 1).tolist()
    [1.0, 0.0, 1.0]
    """
    shares = np.zeros(2 * reach + 1, dtype=np.float32)
    for offset in range(-reach, reach + 1):
        diagonal = np.diagonal(weights, offset)
        shares[offset + reach] = diagonal.mean() if len(diagonal) else 0
    return shares


def as_shares(weights: FloatArray) -> FloatArray:
    """Return weights (..., query, key) scaled so that each row sums to one; a row of zeros stays zero.

    Entropy and distance describe a distribution, but a row sums to less than one if special tokens are hidden or if the
    layer has attention sinks.

    >>> as_shares(np.array([[0.1, 0.3], [0.0, 0.0]], np.float32)).round(2).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    mass = weights.sum(axis=-1, keepdims=True)
    shares: FloatArray = np.divide(weights, mass, out=np.zeros_like(weights), where=mass > 0)
    return shares


Rows = npt.NDArray[np.intp]
OfHeads = Callable[[FloatArray], FloatArray]  # maps shares of some heads (head, row, key) from as_shares to (head,)


def mean_entropy(_view: View, _rows: Rows) -> OfHeads:
    """Return a function that computes the entropy of each head's rows, averaged over the rows, in bits."""
    return lambda shares: _mean(entropy(shares))


def mean_distance(view: View, rows: Rows) -> OfHeads:
    """Return a function that computes each head's mean attention distance over the rows.

    The unit is a token or word of the view; for pictures, it is a patch.
    """
    grids = view.grids
    if grids is not None:
        looking = [grids[0].place(view.queries[row].pieces[0]) for row in rows]
        away = between_patches(looking, [grids[1].place(cell.pieces[0]) for cell in view.keys])
        return lambda shares: _mean_there(patch_distance(shares, away))
    return lambda shares: _mean(distance(shares, rows))


def _mean_there(found: FloatArray) -> FloatArray:
    """Average the finite values over the rows, (head, row) -> (head,); 0 if a head has none."""
    there = np.isfinite(found)
    many = there.sum(axis=-1)
    sums = np.where(there, found, 0.0).sum(axis=-1)
    result: FloatArray = np.divide(sums, many, out=np.zeros(len(found), found.dtype), where=many > 0)
    return result


def to_punctuation(view: View, _rows: Rows) -> OfHeads:
    """Return a function that computes how much of each head's attention goes to punctuation, averaged over the rows."""
    marks = np.array([is_punctuation(key) for key in view.keys], np.float32)
    return lambda shares: _mean(shares @ marks)


def to_same_word(view: View, rows: Rows) -> OfHeads:
    """Return a function that computes how much of each head's attention goes to repetitions of the query's word.

    The value is a mean over the queries whose word occurs again. Case is ignored, and in a decoder only earlier
    occurrences count. The value is 0 if no word is repeated.
    """
    queries, keys = _words(view.queries)[rows], _words(view.keys)
    same = (queries[:, None] == keys[None, :]) & (queries != "")[:, None]
    places = np.arange(len(keys))[None, :]
    if view.causal:
        same &= places < rows[:, None]
    elif (view.part or view.trace.part) != "cross":
        same &= places != rows[:, None]
    told, weights = same.any(axis=1), same.astype(np.float32)
    if not told.any():
        return lambda shares: np.zeros(len(shares), np.float32)
    return lambda shares: _mean(np.einsum("hqk,qk->hq", shares, weights)[:, told])


def _mean(found: FloatArray) -> FloatArray:
    """Average over the rows, (head, row) -> (head,)."""
    result: FloatArray = found.mean(axis=-1)
    return result


def is_punctuation(cell: DisplayToken) -> bool:
    """Return True if a displayed token or word consists of punctuation only; special tokens do not count.

    >>> (
    ...     is_punctuation(DisplayToken("...", False, 0, 3, (4, 5))),
    ...     is_punctuation(DisplayToken("it's", False, 0, 1, (2, 3))),
    ... )
    (True, False)
    """
    text = cell.text.strip()
    return not cell.special and bool(text) and all(unicodedata.category(letter).startswith("P") for letter in text)


def _words(cells: tuple[DisplayToken, ...]) -> npt.NDArray[np.str_]:
    """Return each cell's text in casefolded form, (cell,); special tokens become empty strings."""
    return np.array(["" if cell.special else cell.text.strip().casefold() for cell in cells], np.str_)


@dataclass(frozen=True)
class Measure:
    """A number that is computed for each head: its function, label and unit, and the order of sorted heads."""

    name: str  # identifies the measure in an address
    label: str
    unit: str
    order: str  # label of the order by this measure
    of: Callable[[View, Rows], OfHeads]  # the outer call runs once for a text, the inner call for each group of heads
    descending: bool = False  # True if the order begins with the largest value
    digits: int = 2  # decimal places
    clause: str = ""  # part of a sentence about a head; {value} is replaced by the number
    needs_words: bool = False  # True if the measure has no meaning for a picture


MEASURES = (
    Measure(
        "entropy",
        gettext_lazy("entropy"),
        gettext_lazy("bits"),
        gettext_lazy("sharpest first (entropy)"),
        mean_entropy,
        clause=gettext_lazy("rows spread over {value} bits"),
    ),
    Measure(
        "distance",
        gettext_lazy("mean distance"),
        gettext_lazy("tokens"),
        gettext_lazy("nearest first (distance)"),
        mean_distance,
        digits=1,
        clause=gettext_lazy("attend {value} tokens away on average"),
    ),
    Measure(
        "punctuation",
        gettext_lazy("attention to punctuation"),
        "",
        gettext_lazy("to punctuation first"),
        to_punctuation,
        descending=True,
        needs_words=True,
    ),
    Measure(
        "same",
        gettext_lazy("attention to the same word elsewhere"),
        "",
        gettext_lazy("to the same word first"),
        to_same_word,
        descending=True,
        needs_words=True,
    ),
)


IN_PATCHES: dict[str, dict[str, Any]] = {  # fields that differ for pictures
    "distance": {"unit": gettext_lazy("patches"), "clause": gettext_lazy("attend {value} patches away on average")},
}


def measures_of(view: View) -> tuple[Measure, ...]:
    """Return the measures of a view.

    For pictures, leave out the measures that need words and use patches as the unit.
    """
    if view.grids is None:
        return MEASURES
    without_words = (measure for measure in MEASURES if not measure.needs_words)
    return tuple(replace(measure, **IN_PATCHES.get(measure.name, {})) for measure in without_words)


TOGETHER = 2**18  # number of weights per group of heads; larger groups are not faster


@dataclass(frozen=True, eq=False)
class HeadSummary:
    """Small maps, measures and strongest links of every head, computed in one pass over the maps."""

    thumbnails: FloatArray  # (layer, head, row, col): the largest weight of each cell
    measures: dict[str, FloatArray]  # by name, (layer, head), over the visible keys; NaN for layers without attention
    received: FloatArray  # (key,), mean over the queries and the heads of all layers with attention
    crowd: ColumnMeans  # column means over the words of the text
    own: TopLinks  # candidates for the link that is selected when the text is opened
    sampled: bool  # True if only some rows of a long text were used
    signed: bool = False  # True for signed values: there are no measures, and means and links use absolute values

    @property
    def nbytes(self) -> int:
        """Return the memory of the arrays in bytes, without the small arrays of measures."""
        return int(self.thumbnails.nbytes + self.received.nbytes) + self.crowd.nbytes

    @property
    def entropy(self) -> FloatArray:
        """Return the mean entropy over queries in bits, shape (layer, head); raise Unavailable for signed values."""
        return self._measure("entropy")

    @property
    def distance(self) -> FloatArray:
        """Return the mean distance over queries in tokens or words of the view, shape (layer, head).

        Raise Unavailable for signed values.
        """
        return self._measure("distance")

    def _measure(self, name: str) -> FloatArray:
        if self.signed:
            raise Unavailable(SIGNED)
        return self.measures[name]


def summarize_heads(view: View, size: int) -> HeadSummary:
    """Compute the measures, the top links and a thumbnail of at most (size, size) for every head.

    Signed values get no measures.
    """
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
    """Yield groups of heads of a layer, shape (head, row, key); ``weights`` is the number of weights per head."""
    many = max(1, TOGETHER // max(1, weights))
    while heads := list(islice(layer, many)):
        yield np.stack(heads)


def _own_links(
    rows: Rows, links: Sequence[tuple[Rows, Rows, FloatArray, FloatArray]], shape: tuple[int, int]
) -> TopLinks:
    """Combine the top links of all heads, with row numbers replaced by query indices of the view."""
    at, keys, weights, excess = (np.concatenate(values).reshape(*shape, -1) for values in zip(*links, strict=True))
    return TopLinks(np.where(at >= 0, rows[at], -1), keys, weights, excess)
