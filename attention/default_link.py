"""Which links of a text are worth opening it with: those that a word does not share with every word or every text.

For each head the few rows whose strongest link between words goes furthest beyond what the text's other words give
that word (attention/excess.py). What a head gives the place whatever stands there is taken off later: it is known only
where a reference text was read (attention/positional_prior.py).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.display_tokens import DisplayToken
from attention.mask import BoolArray, FloatArray
from attention.positional_prior import PositionalPrior
from attention.view import View

KEPT = 3  # links of each head

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class DefaultLink:
    """One link: cells of the view."""

    layer: int
    head: int
    query: int
    key: int


@dataclass(frozen=True, eq=False)
class TopLinks:
    """The few best links of each head, each array (layer, head, link); a query of -1 where there are fewer."""

    queries: Indices
    keys: Indices
    weights: FloatArray
    excess: FloatArray

    def best(self, view: View, habits: PositionalPrior | None, heads: BoolArray | None = None) -> DefaultLink | None:
        """The link furthest beyond both doubts; positional heads only where there are no others.

        ``heads``, (layer, head), says which heads are asked; None: every head. None where no word links to another.
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
    """Which keys a row may link to so that it says something about words, (row, key): words, no parts of the same."""
    asked, looked = _is_word([view.queries[row] for row in rows]), _is_word(view.keys)
    linked: BoolArray = asked[:, None] & looked[None, :]
    if not view.crosses:
        written = _word_numbers(view)
        linked &= written[rows][:, None] != written[None, :]
    return linked


def top_links(
    weights: FloatArray, linked: BoolArray, others: Indices, sums: FloatArray
) -> tuple[Indices, Indices, FloatArray, FloatArray]:
    """Each head's best links, (..., link): row numbers, keys, weights and excess; a row of -1 where there are fewer.

    ``weights`` are (..., row, key). ``linked`` says which of them are links of words that count (attention/excess.py);
    ``others``, (key,), how many words a key has beside the row's own, and ``sums``, (..., key), what all give it.
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
    """Which cells have a letter or a digit, (cell,)."""
    return np.array([not cell.special and any(map(str.isalnum, cell.text)) for cell in cells], dtype=bool)


def _word_numbers(view: View) -> Indices:
    """The number of the written word that each cell is a part of, (cell,): "didn", "'" and "t" are one.

    Between signs that are written without spaces, as in Chinese, the tokenizer's words count.
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
    """Whether a sign is of a script that puts spaces between words."""
    return unicodedata.category(letter) != "Lo"
