"""Several ways of telling which words matter, side by side: two matrices, a table, and who agrees with whom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from attention.agreement import shares
from attention.cells import Cell
from attention.mask import Array
from ui.explaining.ways import ATTENTION, EFFECT, Ways
from ui.show.csv_table import csv_table
from ui.show.lists import together
from ui.show.matrices import draw_matrices
from viz.components.matrices.matrices import About
from viz.sheets.agreement import sheets
from wording import _, ngettext, told

TIED = 1e-4  # relative difference of two sizes below which they tie
NUMBERED = 24  # words up to which every share is printed


def ranks(rows: Array) -> Array:
    """Spearman's rank correlation of every pair of rows (way, word), (way, way); no number for a row of equals.

    >>> ranks(np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 90.0], [3.0, 2.0, 1.0]])).round(6).tolist()
    [[1.0, 1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    found = np.full((len(rows), len(rows)), np.nan)
    for one, left in enumerate(rows):
        for other, right in enumerate(rows):
            if np.ptp(left) > 0 and np.ptp(right) > 0:
                found[one, other] = spearmanr(left, right).statistic
    return found


def draw_ways(
    ways: Ways, cells: Sequence[Cell], key: str, on_pick: Callable[[], None] | None = None, about: About | None = None
) -> None:
    """Words by ways, then ways by ways, under the keys ``key`` and ``key``_ways."""
    rows, names = np.stack([way.sizes for way in ways.found]), [told(way.name) for way in ways.found]
    marked = [at for at, way in enumerate(ways.found) if way.name == EFFECT]
    by_word, by_way = sheets(names, [cell.label for cell in cells], shares(rows), ranks(rows), marked)
    numbers = True if len(cells) <= NUMBERED else None
    draw_matrices([by_word], key, on_pick=on_pick, numbers=numbers, about=about)
    draw_matrices([by_way], f"{key}_ways", about=about)


def largest(values: Array) -> list[int]:
    """Return the places of the largest value and of those that tie with it, which differ by no more than rounding.

    >>> largest(np.array([0.1, 0.5, 0.5])), largest(np.zeros(2))
    ([1, 2], [0, 1])
    """
    return [int(at) for at in np.flatnonzero(np.isclose(values, values.max(), rtol=TIED, atol=0))]


def who_agrees(ways: Ways) -> str:
    """Return which ways put the same word first as leaving words out, and whose order is most like its; "" for none.

    A way with a tie puts no single word first.
    """
    names, rows = [way.name for way in ways.found], np.stack([way.sizes for way in ways.found])
    effect = names.index(EFFECT)
    firsts = [largest(row) for row in rows]
    with_effect = {
        name: float(value)
        for name, value in zip(names, ranks(rows)[effect], strict=True)
        if name != EFFECT and np.isfinite(value)
    }
    if not with_effect:
        return ""
    closest, farthest = max(with_effect, key=with_effect.__getitem__), min(with_effect, key=with_effect.__getitem__)
    values: dict[str, Any] = {
        "words": rows.shape[1],
        "same": sum(first == firsts[effect] for first in firsts) - 1 if len(firsts[effect]) == 1 else 0,
        "ways": len(names) - 1,
        "closest": told(closest).lower(),
        "most": with_effect[closest],
        "farthest": told(farthest).lower(),
        "least": with_effect[farthest],
    }
    order = (
        _(
            "The order of {closest} agrees best with leaving words out (rank correlation over {words} words"
            " {most:.2f}), that of {farthest} least ({least:.2f}).",
            **values,
        )
        if ATTENTION in (closest, farthest)
        else _(
            "The order of {closest} agrees best with leaving words out (rank correlation over {words} words"
            " {most:.2f}), that of {farthest} least ({least:.2f}; attention: {attention:.2f}).",
            **values,
            attention=with_effect[ATTENTION],
        )
    )
    return together(_("Of {words} words, {same} of the other {ways} ways put the same one first.", **values), order,
                    _ties(firsts))  # fmt: skip


def _ties(firsts: Sequence[Sequence[int]]) -> str:
    """Return how many ways have no single first word; "" if all have."""
    tied = sum(len(first) > 1 for first in firsts)
    return ngettext("{tied} way has a tie.", "{tied} ways have a tie.", tied, tied=tied) if tied else ""


def table(ways: Ways, cells: Sequence[Cell]) -> str:
    """Every word's number and share by every way as CSV."""
    names = [_("word")]
    for way in ways.found:
        names += [told(way.name), _("{way}, share of the row", way=way.name)]
    columns = [column for way in ways.found for column in (way.values, shares(way.sizes))]
    rows = [[cell.label, *(float(column[at]) for column in columns)] for at, cell in enumerate(cells)]
    return csv_table(names, rows)
