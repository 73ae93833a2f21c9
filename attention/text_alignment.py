"""Which cells of one text stand where cells of another stand: two texts, or one text as two tokenizers cut it.

Of two texts, the words that both have in the same order are partners, as many of them as can be; between two such
words, as many words on both sides are partners one by one, since each was put in another's place. What was added or
left out has no partner. Of one text cut in two ways, partners are made of the same characters.

Partners are runs of cells, since a word may be one piece here and three there. Three laws hold: a text beside itself is
matched cell by cell; with the sides swapped, the pairs are the same ones swapped; and partners stand in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from attention.display_tokens import DisplayToken
from attention.tokens import TokenRow, word_runs
from attention.view import View

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
