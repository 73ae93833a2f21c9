"""Numbers that describe a head's map: how spread it is, how far it looks, who receives, and one number per head.

A new number per head is one function, one row of MEASURES and one case by hand: the survey takes it, the microscope's
payload carries the row, and its grid, tooltips and addresses know it from there.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.display_tokens import DisplayToken
from attention.grid_measures import between_patches, patch_distance
from attention.mask import FloatArray
from attention.view import View
from i18n import gettext_lazy


def entropy(weights: FloatArray) -> FloatArray:
    """Spread of each query's attention, (..., query, key) -> (..., query), in bits: 0 = one key, log2(n) = uniform.

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    # 0 · log 0 counts as 0; adding the smallest normal number keeps the logarithm finite and changes nothing else.
    logs = np.log2(weights + np.finfo(np.float32).tiny)
    result: FloatArray = -np.einsum("...k,...k->...", weights, logs) + 0.0
    return result


def distance(weights: FloatArray, rows: npt.NDArray[np.intp] | None = None) -> FloatArray:
    """Mean distance a query looks, (..., query, key) -> (..., query), in tokens; ``rows`` are the queries' positions.

    >>> distance(np.array([[0.0, 0.0, 1.0]]), np.array([0])).tolist()
    [2.0]
    """
    queries = np.arange(weights.shape[-2]) if rows is None else rows
    away = np.abs(np.arange(weights.shape[-1], dtype=np.float32)[None, :] - queries.astype(np.float32)[:, None])
    result: FloatArray = np.einsum("...qk,qk->...q", weights, away)
    return result


def attention_received(weights: FloatArray) -> FloatArray:
    """Attention each key receives, the mean over the queries, (..., query, key) -> (..., key).

    >>> attention_received(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [0.75, 0.25]
    """
    result: FloatArray = weights.mean(axis=-2)
    return result


def by_offset(weights: FloatArray, reach: int) -> FloatArray:
    """Share of attention at each distance, (query, key) -> (2 * reach + 1,): key minus query from -reach to reach.

    The share is the mean over the queries that have a key at that distance.

    >>> by_offset(np.array([[0.0, 1.0], [1.0, 0.0]]), 1).tolist()
    [1.0, 0.0, 1.0]
    """
    shares = np.zeros(2 * reach + 1, dtype=np.float32)
    for offset in range(-reach, reach + 1):
        diagonal = np.diagonal(weights, offset)
        shares[offset + reach] = diagonal.mean() if len(diagonal) else 0
    return shares


def as_shares(weights: FloatArray) -> FloatArray:
    """Each row as shares of what it gives to the keys shown, (..., query, key); an empty row stays empty.

    Entropy and distance describe a distribution; with special tokens hidden, or with sinks, a row sums to less.

    >>> as_shares(np.array([[0.1, 0.3], [0.0, 0.0]], np.float32)).round(2).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    mass = weights.sum(axis=-1, keepdims=True)
    shares: FloatArray = np.divide(weights, mass, out=np.zeros_like(weights), where=mass > 0)
    return shares


Rows = npt.NDArray[np.intp]
OfHeads = Callable[[FloatArray], FloatArray]  # of some heads' shares (head, row, key), see as_shares: (head,)


def mean_entropy(_view: View, _rows: Rows) -> OfHeads:
    """How spread a head looks, in bits, mean over the rows."""
    return lambda shares: _mean(entropy(shares))


def mean_distance(view: View, rows: Rows) -> OfHeads:
    """How far a head looks, in cells, mean over the rows; of a picture, in patches."""
    grids = view.grids
    if grids is not None:
        looking = [grids[0].place(view.queries[row].pieces[0]) for row in rows]
        away = between_patches(looking, [grids[1].place(cell.pieces[0]) for cell in view.keys])
        return lambda shares: _mean_there(patch_distance(shares, away))
    return lambda shares: _mean(distance(shares, rows))


def _mean_there(found: FloatArray) -> FloatArray:
    """Over the rows that have a number, (head, row) -> (head,); 0 where none has."""
    there = np.isfinite(found)
    many = there.sum(axis=-1)
    sums = np.where(there, found, 0.0).sum(axis=-1)
    result: FloatArray = np.divide(sums, many, out=np.zeros(len(found), found.dtype), where=many > 0)
    return result


def to_punctuation(view: View, _rows: Rows) -> OfHeads:
    """The share of its attention that a head gives to punctuation, mean over the rows."""
    marks = np.array([is_punctuation(key) for key in view.keys], np.float32)
    return lambda shares: _mean(shares @ marks)


def to_same_word(view: View, rows: Rows) -> OfHeads:
    """The share that a word gives to the same word elsewhere, mean over the rows whose word stands elsewhere too.

    Upper and lower case are one; in a decoder, elsewhere is before. 0 where no word of the text is said twice.
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
    """Over the rows, (head, row) -> (head,)."""
    result: FloatArray = found.mean(axis=-1)
    return result


def is_punctuation(cell: DisplayToken) -> bool:
    """Whether a cell of the text is punctuation and nothing else; a special token is not.

    >>> (
    ...     is_punctuation(DisplayToken("...", False, 0, 3, (4, 5))),
    ...     is_punctuation(DisplayToken("it's", False, 0, 1, (2, 3))),
    ... )
    (True, False)
    """
    text = cell.text.strip()
    return not cell.special and bool(text) and all(unicodedata.category(letter).startswith("P") for letter in text)


def _words(cells: tuple[DisplayToken, ...]) -> npt.NDArray[np.str_]:
    """Each cell's text, (cell,), upper and lower case as one; special tokens are empty."""
    return np.array(["" if cell.special else cell.text.strip().casefold() for cell in cells], np.str_)


@dataclass(frozen=True)
class Measure:
    """A number per head: its computation, its label and unit, and the order of heads by it."""

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
        clause=gettext_lazy("look {value} tokens away on average"),
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


IN_PATCHES: dict[str, dict[str, Any]] = {  # of a picture
    "distance": {"unit": gettext_lazy("patches"), "clause": gettext_lazy("look {value} patches away on average")},
}


def measures_of(view: View) -> tuple[Measure, ...]:
    """Return the measures of a view; for a picture without those that need words, and with units in patches."""
    if view.grids is None:
        return MEASURES
    without_words = (measure for measure in MEASURES if not measure.needs_words)
    return tuple(replace(measure, **IN_PATCHES.get(measure.name, {})) for measure in without_words)
