"""Two readings compared: which cells correspond, and how a head's attention differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray
from attention.measures import as_shares, entropy
from attention.pictures import Picture
from attention.tokens import TokenRow, word_runs
from attention.view import DisplayToken, View
from i18n import gettext_lazy

Run = tuple[int, int]  # cells from start to stop
Place = tuple[int, int, int]  # segment, and from which character to which


@dataclass(frozen=True)
class Aligned:
    """Runs of cells that are each other's partners, (left, right), in the order of both texts."""

    pairs: tuple[tuple[Run, Run], ...]

    def swap(self) -> Aligned:
        """The same with left and right exchanged.

        >>> Aligned((((0, 1), (1, 3)),)).swap()
        Aligned(pairs=(((1, 3), (0, 1)),))
        """
        return Aligned(tuple((right, left) for left, right in self.pairs))

    def pair_of(self, side: int, cell: int) -> int | None:
        """Which pair a cell of one side (0 left, 1 right) is in; None for one without a partner.

        >>> Aligned((((0, 1), (1, 3)),)).pair_of(1, 2)
        0
        """
        return next((at for at, runs in enumerate(self.pairs) if runs[side][0] <= cell < runs[side][1]), None)


def align(left: View, right: View) -> tuple[Aligned, Aligned]:
    """Partners among the two views' queries, and among their keys."""
    queries, keys = zip(left.trace.token_rows(left.part), right.trace.token_rows(right.part), strict=True)
    by_query = _cells((left.queries, right.queries), queries, _same_text(left, right, queries))
    if left.queries == left.keys and right.queries == right.keys:
        return by_query, by_query
    return by_query, _cells((left.keys, right.keys), keys, _same_text(left, right, keys))


def by_words(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Which word of one text stands where a word of the other stood, in order; upper and lower case are one.

    >>> by_words("it was too tired".split(), "it was much too wide".split())
    [(0, 0), (1, 1), (2, 3), (3, 4)]
    """
    one, other = (tuple(word.casefold() for word in words) for words in (left, right))
    if (len(one), one) > (len(other), other):  # always asked in the same order, so that a tie is broken in the same way
        return [(at, there) for there, at in by_words(right, left)]
    found = _longest_common_run(one, other)
    ends = [(-1, -1), *found, (len(one), len(other))]
    for (i0, j0), (i1, j1) in pairwise(ends):
        if i1 - i0 == j1 - j0:
            found += zip(range(i0 + 1, i1), range(j0 + 1, j1), strict=True)
    return sorted(found)


def by_characters(left: Sequence[Place], right: Sequence[Place]) -> Aligned:
    """Cells of one text cut in two ways: the smallest runs that are made of the same characters.

    >>> whole, halves = [(0, 0, 3), (0, 4, 9)], [(0, 0, 3), (0, 4, 6), (0, 6, 9)]
    >>> by_characters(whole, halves).pairs
    (((0, 1), (0, 1)), ((1, 2), (1, 3)))
    """
    found: list[tuple[Run, Run]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        if _end(left[i]) <= _start(right[j]):
            i += 1
            continue
        if _end(right[j]) <= _start(left[i]):
            j += 1
            continue
        i1, j1 = i + 1, j + 1
        reached = max(_end(left[i]), _end(right[j]))
        while True:
            if i1 < len(left) and _start(left[i1]) < reached:
                reached, i1 = max(reached, _end(left[i1])), i1 + 1
            elif j1 < len(right) and _start(right[j1]) < reached:
                reached, j1 = max(reached, _end(right[j1])), j1 + 1
            else:
                break
        found.append(((i, i1), (j, j1)))
        i, j = i1, j1
    return Aligned(tuple(found))


def _longest_common_run(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """The longest run of words, not all of them neighbours, that both texts have in the same order.

    The lengths are those of R. A. Wagner and M. J. Fischer, 1974, doi:10.1145/321796.321811; of each only the way back
    is kept, a bit each, so that two texts of 8,192 words take 16 MB.
    """
    numbers = {word: number for number, word in enumerate(dict.fromkeys((*left, *right)))}
    one, other = (np.array([numbers[word] for word in words], dtype=np.intp) for words in (left, right))
    above: npt.NDArray[np.intp] = np.zeros(len(other) + 1, dtype=np.intp)
    up, back = [], []
    for word in one:
        row = np.zeros_like(above)
        row[1:] = np.maximum.accumulate(np.maximum(above[1:], above[:-1] + (other == word)))
        up.append(np.packbits(row == above))
        back.append(np.packbits(row[1:] == row[:-1]))
        above = row
    found = []
    i, j = len(one), len(other)
    while i and j:
        if _bit(up[i - 1], j):
            i -= 1
        elif _bit(back[i - 1], j - 1):
            j -= 1
        else:
            i, j = i - 1, j - 1
            found.append((i, j))
    return found[::-1]


def _bit(packed: npt.NDArray[np.uint8], at: int) -> bool:
    return bool(packed[at >> 3] >> (7 - (at & 7)) & 1)


Cells = tuple[DisplayToken, ...]


def _cells(cells: tuple[Cells, Cells], rows: tuple[TokenRow, TokenRow], same: bool) -> Aligned:
    """Partners among the cells of two rows of tokens; ``same`` where both rows are of one text."""
    left, right = cells
    if same and rows[0].pieces != rows[1].pieces:
        places = _places(left, rows[0]), _places(right, rows[1])
        if all(places):
            return _with_special(cells, places)
    words = [word_runs([cell.word for cell in side], [cell.segment for cell in side]) for side in cells]
    names = (["".join(cell.text.strip() for cell in side[slice(*run)]) for run in runs]
             for side, runs in zip(cells, words, strict=True))  # fmt: skip
    pairs = ((words[0][i], words[1][j]) for i, j in by_words(*names))
    return Aligned(tuple(pair for one, other in pairs for pair in _piece_by_piece(one, other)))


def _piece_by_piece(left: Run, right: Run) -> Iterator[tuple[Run, Run]]:
    """As many pieces on both sides are partners one by one; else all of them together are one partner."""
    if left[1] - left[0] != right[1] - right[0]:
        yield left, right
        return
    for i, j in zip(range(*left), range(*right), strict=True):
        yield (i, i + 1), (j, j + 1)


def _places(cells: Cells, row: TokenRow) -> dict[int, Place]:
    """Where each cell that is made of characters stands in its text."""
    found = {}
    for at, cell in enumerate(cells):
        first, last = row.spans[cell.pieces[0]], row.spans[cell.pieces[1] - 1]
        if not cell.special and first is not None and last is not None:
            found[at] = (cell.segment, first[0], last[1])
    return found


def _with_special(cells: tuple[Cells, Cells], places: tuple[dict[int, Place], dict[int, Place]]) -> Aligned:
    """Partners by characters, and the cells without any, special tokens, by the partners that they stand between."""
    sides = [list(side) for side in places]
    pairs = [
        ((sides[0][one[0]], sides[0][one[1] - 1] + 1), (sides[1][other[0]], sides[1][other[1] - 1] + 1))
        for one, other in by_characters(*(list(side.values()) for side in places)).pairs
    ]
    ends = [((0, 0), (0, 0)), *pairs, ((len(cells[0]),) * 2, (len(cells[1]),) * 2)]
    for (left, right), (left_next, right_next) in pairwise(ends):
        one, other = (left[1], left_next[0]), (right[1], right_next[0])
        if one[0] < one[1] and other[0] < other[1] and _all_special(cells[0], one) and _all_special(cells[1], other):
            pairs += _piece_by_piece(one, other)
    return Aligned(tuple(sorted(pairs)))


def _all_special(cells: Cells, run: Run) -> bool:
    return all(cell.special for cell in cells[slice(*run)])


def _same_text(left: View, right: View, rows: tuple[TokenRow, TokenRow]) -> bool:
    """Whether the tokens of both rows were cut from the same text."""
    if rows[0] is left.trace.target and rows[1] is right.trace.target:
        return left.trace.target_text == right.trace.target_text
    return (left.trace.text, left.trace.pair) == (right.trace.text, right.trace.pair)


def _start(place: Place) -> tuple[int, int]:
    return place[0], place[1]


def _end(place: Place) -> tuple[int, int]:
    return place[0], place[2]


MOST_WORK = 3 * 10**7  # weights on each side whose logarithm is taken; of long texts some rows stand for all

Rows = npt.NDArray[np.intp]
Heads = npt.NDArray[np.intp]  # (layer, head, 2): for each head of the left its layer and head on the right


def divergence(left: FloatArray, right: FloatArray) -> FloatArray:
    """Jensen–Shannon divergence of each row's shares, (..., row, key) twice -> (..., row), 0 to 1 bit.

    0: the same shares; 1: no key in common. No number for a row that is empty on a side.

    >>> divergence(np.array([[1.0, 0.0], [0.2, 0.2]]), np.array([[0.0, 0.5], [0.5, 0.5]])).tolist()
    [1.0, 0.0]
    """
    one, other = as_shares(left), as_shares(right)
    mixed: FloatArray = (one + other) * np.float32(0.5)
    bits = entropy(mixed) - (entropy(one) + entropy(other)) / 2
    told: FloatArray = np.clip(bits, 0, 1)
    told[(left.sum(axis=-1) <= 0) | (right.sum(axis=-1) <= 0)] = np.nan
    return told


@dataclass(frozen=True, eq=False)
class AlignedViews:
    """Two views, and which of their cells are partners."""

    left: View
    right: View
    queries: Aligned
    keys: Aligned

    @staticmethod
    def align(left: View, right: View) -> AlignedViews:
        """Two views with their cells aligned."""
        return AlignedViews(left, right, *align(left, right))

    def maps(self, side: int, layer: int, head: int, rows: Rows | None = None) -> tuple[FloatArray, FloatArray]:
        """One head's weights among partners, (query pair, key pair), and what each row gave other keys, (query pair,).

        ``side`` is 0 for the left and 1 for the right, ``rows`` the query pairs asked for, by default all. To a key of
        several cells goes the sum over them, from a query of several the mean.
        """
        view = (self.left, self.right)[side]
        queries, keys = self._runs[side]
        asked = queries if rows is None else queries[rows]
        sizes = asked[:, 1] - asked[:, 0]
        cells = np.concatenate([np.arange(*run) for run in asked])
        every = len(cells) == len(view.queries)
        weights = view.weights(layer, head) if every else view.rows_of(layer, head, cells)
        by_row: FloatArray = np.add.reduceat(weights, np.cumsum(sizes) - sizes, axis=0)
        by_row /= sizes[:, None].astype(np.float32)
        partners = _run_sums(by_row, keys)
        return partners, np.maximum(by_row.sum(axis=1) - partners.sum(axis=1), 0)

    def row(self, side: int, layer: int, head: int, query: Run) -> FloatArray:
        """Where some neighbouring cells of a side look on the mean, at partners and all others, (key,)."""
        view = (self.left, self.right)[side]
        weights: FloatArray = view.block(layer, head, query, (0, len(view.keys))).mean(axis=0)
        return weights

    @cached_property
    def _runs(self) -> list[tuple[Rows, Rows]]:
        """The runs of query pairs and of key pairs on each side, (pair, start and stop)."""
        queries, keys = (np.array(aligned.pairs, np.intp).reshape(-1, 2, 2) for aligned in (self.queries, self.keys))
        return [(queries[:, side], keys[:, side]) for side in (0, 1)]


@dataclass(frozen=True, eq=False)
class Changes:
    """How much every head of the left differs from its partner on the right, all (layer, head)."""

    bits: FloatArray  # Jensen–Shannon divergence, mean over the rows; no number where no row can be compared
    lost: tuple[FloatArray, FloatArray]  # on the left and on the right: the share that went to keys without a partner
    rows: int  # compared
    all_rows: int  # that have a partner

    @property
    def most(self) -> tuple[int, int]:
        """The head that differs most."""
        layer, head = np.unravel_index(int(np.nanargmax(self.bits)), self.bits.shape)
        return int(layer), int(head)


def same_heads(left: View, right: View) -> Heads | None:
    """Each head beside the one of the same layer and number; None for models of other shapes."""
    if (left.layers, left.heads) != (right.layers, right.heads):
        return None
    return np.moveaxis(np.indices((left.layers, left.heads)), 0, 2)


def changes(beside: AlignedViews, partners: Heads) -> Changes:
    """Every head beside its partner; of a long text over evenly spread rows. Raises ValueError for no common words."""
    if not beside.queries.pairs or not beside.keys.pairs:
        raise ValueError(gettext_lazy("The two texts have no words in common, so no row can be compared."))
    layers, heads = partners.shape[:2]
    rows = sample_rows(beside, layers * heads)
    bits, lost = np.full((layers, heads), np.nan, np.float32), np.zeros((2, layers, heads), np.float32)
    for layer, head in np.ndindex(layers, heads):
        one, lost_left = beside.maps(0, layer, head, rows)
        there = partners[layer, head]
        other, lost_right = beside.maps(1, int(there[0]), int(there[1]), rows)
        told = divergence(one, other)
        if not np.isnan(told).all():
            bits[layer, head] = np.nanmean(told)
        lost[:, layer, head] = lost_left.mean(), lost_right.mean()
    every = len(beside.queries.pairs)
    return Changes(bits, (lost[0], lost[1]), every if rows is None else len(rows), every)


def sample_rows(beside: AlignedViews, heads: int) -> Rows | None:
    """Which query pairs stand for a long text, evenly spread; None where all of them are compared."""
    pairs = len(beside.queries.pairs)
    keys = max(len(beside.left.keys), len(beside.right.keys))
    most = max(16, MOST_WORK // (heads * keys))
    return None if pairs <= most else np.unique(np.linspace(0, pairs - 1, most).astype(np.intp))


def head_divergences(beside: AlignedViews) -> FloatArray:
    """Every head of the left beside every head of the right: Jensen–Shannon divergences, mean over rows.

    (left head, right head), heads numbered layer by layer. For short texts: all maps are held at once.
    """
    left, right = (_all_shares(beside, side) for side in (0, 1))
    alone = [entropy(maps) for maps in (left, right)]
    found = np.empty((len(left), len(right)), np.float32)
    for head, maps in enumerate(left):
        mixed: FloatArray = (maps + right) * np.float32(0.5)
        both = entropy(mixed)
        found[head] = (both - (alone[0][head] + alone[1]) / 2).mean(axis=1)
    return np.clip(found, 0, 1)


def best_heads(divergences: FloatArray, left: View, right: View) -> Heads:
    """For each head of the left the head of the right that differs least, by a mean (left head, right head)."""
    best = np.unravel_index(divergences.argmin(axis=1), (right.layers, right.heads))
    return np.stack(best, axis=1).reshape(left.layers, left.heads, 2)


def _all_shares(beside: AlignedViews, side: int) -> FloatArray:
    view = (beside.left, beside.right)[side]
    maps = [beside.maps(side, layer, head)[0] for layer, head in np.ndindex(view.layers, view.heads)]
    return as_shares(np.stack(maps))


def _run_sums(values: FloatArray, runs: Rows) -> FloatArray:
    """Sums of (row, key) over each run of keys, (row, run); runs are in order and do not meet."""
    first, last = int(runs[0, 0]), int(runs[-1, 1])
    if len(runs) == last - first:  # each is one key, and none lies between them
        return values[:, first:last]
    # Starts and stops together, so that a run ends where it does even when a key without a partner follows.
    sums: FloatArray = np.add.reduceat(values[:, first:last], (runs - first).reshape(-1)[:-1], axis=1)
    result: FloatArray = sums[:, ::2]
    return result


def same_place(token: int, one: TokenRow, first: Picture, other: TokenRow, second: Picture) -> int:
    """The token of ``other`` that stands where ``token`` stands in ``one``; the nearest where that was cut off.

    A token without a patch goes with the one of its name; where there is none, and for patches where there is no grid,
    the first token is meant.
    """
    here, there = one.grid, other.grid
    box = None if here is None else here.pixels(token)
    if box is None or there is None:
        name = one.pieces[token] if token < len(one) else ""
        return other.pieces.index(name) if name in other.pieces else 0
    across = (box[0] + box[2]) / 2 / first.width * second.width
    down = (box[1] + box[3]) / 2 / first.height * second.height
    left, top, right, bottom = there.box
    column = int((across - left) / (right - left) * there.columns)
    row = int((down - top) / (bottom - top) * there.rows)
    return there.token(min(max(row, 0), there.rows - 1), min(max(column, 0), there.columns - 1))
