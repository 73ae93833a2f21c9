"""Which links of a text are worth opening it with: those that a word does not share with every word or every text.

For each head the few rows whose strongest link between words goes furthest beyond what the text's other words give
that word (attention/excess.py). What a head gives the place whatever stands there is taken off later: it is known only
where a reference text was read (attention/habits.py).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.cells import Cell
from attention.habits import Habits
from attention.mask import Array, Bools
from attention.view import View

KEPT = 3  # links of each head

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Link:
    """One link: cells of the view."""

    layer: int
    head: int
    query: int
    key: int


@dataclass(frozen=True, eq=False)
class OwnLinks:
    """The few best links of each head, each array (layer, head, link); a query of -1 where there are fewer."""

    queries: Indices
    keys: Indices
    weights: Array
    excess: Array

    def best(self, view: View, habits: Habits | None, heads: Bools | None = None) -> Link | None:
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
        return Link(int(layer), int(head), int(self.queries[layer, head, at]), int(self.keys[layer, head, at]))


def pairs(view: View, rows: Indices) -> Bools:
    """Which keys a row may link to so that it says something about words, (row, key): words, no parts of the same."""
    asked, looked = _worded([view.queries[row] for row in rows]), _worded(view.keys)
    linked: Bools = asked[:, None] & looked[None, :]
    if not view.crosses:
        written = _written(view)
        linked &= written[rows][:, None] != written[None, :]
    return linked


def strongest(weights: Array, linked: Bools, others: Indices, sums: Array) -> tuple[Indices, Indices, Array, Array]:
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

    def kept(values: npt.NDArray[Any], missing: int) -> npt.NDArray[Any]:
        found = np.full((*keys.shape[:-1], KEPT), missing, values.dtype)
        found[..., : order.shape[-1]] = np.where(there, np.take_along_axis(values, order, axis=-1), missing)
        return found

    rows = np.broadcast_to(np.arange(keys.shape[-1]), keys.shape)
    return kept(rows, -1), kept(keys, -1), kept(mine, 0), kept(excess.astype(np.float32), 0)


def _worded(cells: Sequence[Cell]) -> Bools:
    """Which cells have a letter or a digit, (cell,)."""
    return np.array([not cell.special and any(map(str.isalnum, cell.text)) for cell in cells], dtype=bool)


def _written(view: View) -> Indices:
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
            joined = 0 < right[0] < len(text) and _spaced(text[right[0] - 1]) and _spaced(text[right[0]])
        numbers.append(numbers[-1] + (not joined))
    return np.array([numbers[cell.pieces[0]] for cell in view.queries], dtype=np.intp)


def _spaced(letter: str) -> bool:
    """Whether a sign is of a script that puts spaces between words."""
    return unicodedata.category(letter) != "Lo"
