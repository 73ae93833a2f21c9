"""Comparison of two views: aligned tokens or words, and differences between the maps of their heads."""

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
from i18n import LazyMessage, gettext_lazy

Run = tuple[int, int]  # cells [start, stop)
Place = tuple[int, int, int]  # segment, first character, end character


@dataclass(frozen=True)
class Aligned:
    """Pairs of corresponding cells in two views, in text order.

    A cell is a token or a word. Each side of a pair is a run of neighbouring cells.
    """

    pairs: tuple[tuple[Run, Run], ...]

    def swap(self) -> Aligned:
        """Return the alignment with the left and the right view exchanged.

        >>> Aligned((((0, 1), (1, 3)),)).swap()
        Aligned(pairs=(((1, 3), (0, 1)),))
        """
        return Aligned(tuple((right, left) for left, right in self.pairs))

    def pair_of(self, side: int, cell: int) -> int | None:
        """Return the index of the pair that contains a token or word; None if it is not aligned.

        ``side`` is 0 for ``cell`` in the left view, and 1 for the right view.

        >>> Aligned((((0, 1), (1, 3)),)).pair_of(1, 2)
        0
        """
        return next((at for at, runs in enumerate(self.pairs) if runs[side][0] <= cell < runs[side][1]), None)


def align(left: View, right: View) -> tuple[Aligned, Aligned]:
    """Align two views; return two alignments, that of their queries and that of their keys."""
    queries, keys = zip(left.trace.token_rows(left.part), right.trace.token_rows(right.part), strict=True)
    by_query = _cells((left.queries, right.queries), queries, _same_text(left, right, queries))
    if left.queries == left.keys and right.queries == right.keys:
        return by_query, by_query
    return by_query, _cells((left.keys, right.keys), keys, _same_text(left, right, keys))


def by_words(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Align the words of two texts; return pairs of indices in text order.

    Case is ignored. Words of the longest common subsequence are aligned. Words in a gap between them are aligned in
    order if the gap has the same length in both texts.

    >>> by_words("it was too tired".split(), "it was much too wide".split())
    [(0, 0), (1, 1), (2, 3), (3, 4)]
    """
    one, other = (tuple(word.casefold() for word in words) for words in (left, right))
    if (len(one), one) > (len(other), other):  # a fixed order breaks ties the same way in both directions
        return [(at, there) for there, at in by_words(right, left)]
    found = _longest_common_run(one, other)
    ends = [(-1, -1), *found, (len(one), len(other))]
    for (i0, j0), (i1, j1) in pairwise(ends):
        if i1 - i0 == j1 - j0:
            found += zip(range(i0 + 1, i1), range(j0 + 1, j1), strict=True)
    return sorted(found)


def by_characters(left: Sequence[Place], right: Sequence[Place]) -> Aligned:
    """Align two tokenizations of a text by their character spans (segment, start, end).

    Each pair consists of the shortest runs of tokens that cover the same characters.

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
    """Return the index pairs of the longest common subsequence of two texts.

    The lengths follow R. A. Wagner and M. J. Fischer, 1974, doi:10.1145/321796.321811. Only the directions of the
    backtracking are stored, two bits per pair of words, so that two texts of 8,192 words take 16 MB.
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
    """Align the cells of two token rows; ``same`` is True if both rows tokenize the same text."""
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
    """Pair the cells of two runs one by one if the runs have equal lengths, else pair the whole runs."""
    if left[1] - left[0] != right[1] - right[0]:
        yield left, right
        return
    for i, j in zip(range(*left), range(*right), strict=True):
        yield (i, i + 1), (j, j + 1)


def _places(cells: Cells, row: TokenRow) -> dict[int, Place]:
    """Return the character span of each cell that has characters, by cell."""
    found = {}
    for at, cell in enumerate(cells):
        first, last = row.spans[cell.pieces[0]], row.spans[cell.pieces[1] - 1]
        if not cell.special and first is not None and last is not None:
            found[at] = (cell.segment, first[0], last[1])
    return found


def _with_special(cells: tuple[Cells, Cells], places: tuple[dict[int, Place], dict[int, Place]]) -> Aligned:
    """Align cells by characters, and special tokens by the pairs that enclose them."""
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
    """Return True if both token rows come from the same text."""
    if rows[0] is left.trace.target and rows[1] is right.trace.target:
        return left.trace.target_text == right.trace.target_text
    return (left.trace.text, left.trace.pair) == (right.trace.text, right.trace.pair)


def _start(place: Place) -> tuple[int, int]:
    return place[0], place[1]


def _end(place: Place) -> tuple[int, int]:
    return place[0], place[2]


MOST_WORK = 3 * 10**7  # limit on the number of logarithms per side; long texts use sampled rows

Rows = npt.NDArray[np.intp]
Heads = npt.NDArray[np.intp]  # (layer, head, 2): layer and head on the right for each head on the left


def divergence(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the Jensen–Shannon divergence of the rows of two arrays, (..., row, key) -> (..., row).

    Each row of ``left`` is compared with the row of ``right`` that has the same index. Rows are first scaled to sum to
    one. Values are in bits, from 0 (equal distributions) to 1 (no common key), or NaN if either row is all zero.

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
    """Two views with aligned queries and keys."""

    left: View
    right: View
    queries: Aligned
    keys: Aligned

    @staticmethod
    def align(left: View, right: View) -> AlignedViews:
        """Return two views with the alignment of their queries and keys."""
        return AlignedViews(left, right, *align(left, right))

    def shared_words(self) -> AlignedViews:
        """Return the views with only those pairs whose words are equal, ignoring case; replaced words are not aligned.

        Divergences then measure how a replaced word changes the attention between all other words.
        """
        sides = ((self.left.queries, self.right.queries), (self.left.keys, self.right.keys))
        queries, keys = (
            Aligned(tuple(pair for pair in aligned.pairs if _cell_text(left, pair[0]) == _cell_text(right, pair[1])))
            for aligned, (left, right) in zip((self.queries, self.keys), sides, strict=True)
        )
        return AlignedViews(self.left, self.right, queries, keys)

    def maps(self, side: int, layer: int, head: int, rows: Rows | None = None) -> tuple[FloatArray, FloatArray]:
        """Return a head's weights between aligned words, and each query's total weight on unaligned keys.

        The shapes are (query pair, key pair) and (query pair,). ``side`` is 0 for the left view and 1 for the right.
        ``rows`` selects pairs of queries, by default all. A pair can have several tokens or words of the view: weights
        are summed over those of a key pair and averaged over those of a query pair.
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
        """Return a head's attention averaged over the queries ``query`` (start, stop) of a view, shape (key,).

        ``side`` is 0 for the left view and 1 for the right.
        """
        view = (self.left, self.right)[side]
        weights: FloatArray = view.block(layer, head, query, (0, len(view.keys))).mean(axis=0)
        return weights

    @cached_property
    def _runs(self) -> list[tuple[Rows, Rows]]:
        """Return the query runs and key runs of each side, (pair, start and stop)."""
        queries, keys = (np.array(aligned.pairs, np.intp).reshape(-1, 2, 2) for aligned in (self.queries, self.keys))
        return [(queries[:, side], keys[:, side]) for side in (0, 1)]


@dataclass(frozen=True, eq=False)
class Changes:
    """The difference between each head of a left view and its partner, a head of the right view.

    Arrays have the shape (layer, head), with layers and heads of the left view.
    """

    bits: FloatArray  # Jensen–Shannon divergence, mean over the rows; NaN if no row can be compared
    lost: tuple[FloatArray, FloatArray]  # left and right: mean weight on keys that are not aligned
    rows: int  # number of compared rows
    all_rows: int  # number of aligned rows

    @property
    def most(self) -> tuple[int, int]:
        """Return the (layer, head) of the left view that differs most from its partner, by divergence."""
        layer, head = np.unravel_index(int(np.nanargmax(self.bits)), self.bits.shape)
        return int(layer), int(head)


def same_heads(left: View, right: View) -> Heads | None:
    """Return the partner of each head: the head of equal layer and index in the other view.

    Return None if the two models differ in layers or heads.
    """
    if (left.layers, left.heads) != (right.layers, right.heads):
        return None
    return np.moveaxis(np.indices((left.layers, left.heads)), 0, 2)


def no_common_words(rows: str = "0") -> LazyMessage:
    """Return the message about texts without a common word; ``rows`` are the special tokens that are compared.

    >>> no_common_words()
    'The texts share no words. Compared rows: 0.'
    """
    return gettext_lazy("The texts share no words. Compared rows: {rows}.", rows=rows)


def changes(views: AlignedViews, partners: Heads) -> Changes:
    """Compare every head with its partner; raise ValueError if the texts have no words in common.

    ``partners`` has the layer and head on the right for each head of the left view. Long texts are compared on evenly
    spaced rows.
    """
    if not views.queries.pairs or not views.keys.pairs:
        raise ValueError(no_common_words())
    layers, heads = partners.shape[:2]
    rows = sample_rows(views, layers * heads)
    bits, lost = np.full((layers, heads), np.nan, np.float32), np.zeros((2, layers, heads), np.float32)
    for layer, head in np.ndindex(layers, heads):
        one, lost_left = views.maps(0, layer, head, rows)
        there = partners[layer, head]
        other, lost_right = views.maps(1, int(there[0]), int(there[1]), rows)
        told = divergence(one, other)
        if not np.isnan(told).all():
            bits[layer, head] = np.nanmean(told)
        lost[:, layer, head] = lost_left.mean(), lost_right.mean()
    every = len(views.queries.pairs)
    return Changes(bits, (lost[0], lost[1]), every if rows is None else len(rows), every)


def sample_rows(views: AlignedViews, heads: int) -> Rows | None:
    """Return the indices of evenly spaced query pairs of a long text, or None if all pairs are to be compared."""
    pairs = len(views.queries.pairs)
    keys = max(len(views.left.keys), len(views.right.keys))
    most = max(16, MOST_WORK // (heads * keys))
    return None if pairs <= most else np.unique(np.linspace(0, pairs - 1, most).astype(np.intp))


def head_divergences(views: AlignedViews) -> FloatArray:
    """Return the Jensen–Shannon divergence between each left and each right head, averaged over the queries.

    Values are in bits, from 0 (equal attention) to 1. The shape is (left head, right head), with heads numbered layer
    by layer. All maps are held in memory, so use short texts.
    """
    left, right = (_all_shares(views, side) for side in (0, 1))
    alone = [entropy(maps) for maps in (left, right)]
    found = np.empty((len(left), len(right)), np.float32)
    for head, maps in enumerate(left):
        mixed: FloatArray = (maps + right) * np.float32(0.5)
        both = entropy(mixed)
        found[head] = (both - (alone[0][head] + alone[1]) / 2).mean(axis=1)
    return np.clip(found, 0, 1)


def best_heads(divergences: FloatArray, left: View, right: View) -> Heads:
    """Return, for each head of the left view, the head of the right view whose attention differs least from it.

    ``divergences`` is (left head, right head); the result has the shape (layer, head, 2) and holds (layer, head).
    """
    best = np.unravel_index(divergences.argmin(axis=1), (right.layers, right.heads))
    return np.stack(best, axis=1).reshape(left.layers, left.heads, 2)


def _cell_text(cells: Sequence[DisplayToken], run: Run) -> str:
    return "".join(cell.text for cell in cells[slice(*run)]).casefold()


def _all_shares(views: AlignedViews, side: int) -> FloatArray:
    view = (views.left, views.right)[side]
    maps = [views.maps(side, layer, head)[0] for layer, head in np.ndindex(view.layers, view.heads)]
    return as_shares(np.stack(maps))


def _run_sums(values: FloatArray, runs: Rows) -> FloatArray:
    """Sum (row, key) over each run of keys, (row, run); runs are ordered and disjoint."""
    first, last = int(runs[0, 0]), int(runs[-1, 1])
    if len(runs) == last - first:  # all runs have length 1 and are adjacent
        return values[:, first:last]
    # Reduce at starts and stops, so that the sum of a run excludes a key after it that is not aligned.
    sums: FloatArray = np.add.reduceat(values[:, first:last], (runs - first).reshape(-1)[:-1], axis=1)
    result: FloatArray = sums[:, ::2]
    return result


def same_place(token: int, one: TokenRow, first: Picture, other: TokenRow, second: Picture) -> int:
    """Return the patch of the second picture at the relative position of ``token`` in the first.

    Positions are relative to the whole picture and are clamped to the grid. A token that is not a patch is matched to
    the token with the same text, or else to the first token; so are all tokens if either row has no grid of patches.
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
