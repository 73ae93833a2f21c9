"""Several ways of telling which words matter, side by side: two matrices, a table, and who agrees with whom."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import spearmanr

from attention.agreement import shares
from attention.mask import Array
from attention.view import Cell
from ui.explaining.ways import EFFECT, Ways
from ui.show.csv_table import csv_table
from ui.show.matrices import draw_matrices
from viz.components.matrices.matrices import About
from viz.sheets.agreement import sheets

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
    rows, names = np.stack([way.sizes for way in ways.found]), [way.name for way in ways.found]
    marked = [at for at, name in enumerate(names) if name == EFFECT]
    by_word, by_way = sheets(names, [cell.label for cell in cells], shares(rows), ranks(rows), marked)
    numbers = True if len(cells) <= NUMBERED else None
    draw_matrices([by_word], key, on_pick=on_pick, numbers=numbers, about=about)
    draw_matrices([by_way], f"{key}_ways", about=about)


def who_agrees(ways: Ways) -> str:
    """Which ways put the same word first as leaving words out, and whose order is most like its; "" where none can."""
    names, rows = [way.name for way in ways.found], np.stack([way.sizes for way in ways.found])
    effect = names.index(EFFECT)
    best = int(rows[effect].argmax())
    with_effect = {
        name: float(value)
        for name, value in zip(names, ranks(rows)[effect], strict=True)
        if name != EFFECT and np.isfinite(value)
    }
    if not with_effect:
        return ""
    closest, farthest = max(with_effect, key=with_effect.__getitem__), min(with_effect, key=with_effect.__getitem__)
    attention = f"; attention: {with_effect['Attention']:.2f}" if "Attention" not in (closest, farthest) else ""
    top = sum(int(row.argmax()) == best for row in rows) - 1
    return (
        f" Of {rows.shape[1]} words, {top} of the other {len(names) - 1} ways put the same one first. The order"
        f" of {closest.lower()} agrees best with leaving words out (rank correlation {with_effect[closest]:.2f}),"
        f" that of {farthest.lower()} least ({with_effect[farthest]:.2f}{attention})."
    )


def table(ways: Ways, cells: Sequence[Cell]) -> str:
    """Every word's number and share by every way as CSV."""
    names = ["word", *(f"{way.name}{suffix}" for way in ways.found for suffix in ("", ", share of the row"))]
    columns = [column for way in ways.found for column in (way.values, shares(way.sizes))]
    rows = [[cell.label, *(float(column[at]) for column in columns)] for at, cell in enumerate(cells)]
    return csv_table(names, rows)
