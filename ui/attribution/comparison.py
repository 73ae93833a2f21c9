"""Several ways of telling which words matter, side by side: two matrices, a table, and who agrees with whom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from attention.agreement import shares
from attention.display_tokens import DisplayToken
from attention.mask import FloatArray
from i18n import _, ngettext, translate
from ui.attribution.methods import ATTENTION, EFFECT, AttributionSet
from ui.show.csv_table import csv_table
from ui.show.format_list import join_sentences
from ui.show.matrices import draw_matrices
from viz.components.matrices.matrices import About
from viz.matrix_specs.agreement import agreement_matrices

TIED = 1e-4  # relative difference of two sizes below which they tie
NUMBERED = 24  # words up to which every share is printed


def ranks(rows: FloatArray) -> FloatArray:
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


def draw_methods(
    ways: AttributionSet,
    cells: Sequence[DisplayToken],
    key: str,
    on_pick: Callable[[], None] | None = None,
    about: About | None = None,
) -> None:
    """Words by ways, then ways by ways, under the keys ``key`` and ``key``_ways."""
    rows, names = np.stack([way.sizes for way in ways.attributions]), [translate(way.name) for way in ways.attributions]
    marked = [at for at, way in enumerate(ways.attributions) if way.name == EFFECT]
    by_word, by_way = agreement_matrices(names, [cell.label for cell in cells], shares(rows), ranks(rows), marked)
    numbers = True if len(cells) <= NUMBERED else None
    draw_matrices([by_word], key, on_pick=on_pick, numbers=numbers, about=about)
    draw_matrices([by_way], f"{key}_ways", about=about)


def places_of_largest(values: FloatArray) -> list[int]:
    """Return the places of the largest value and of those that tie with it, which differ by no more than rounding.

    >>> places_of_largest(np.array([0.1, 0.5, 0.5])), places_of_largest(np.zeros(2))
    ([1, 2], [0, 1])
    """
    return [int(at) for at in np.flatnonzero(np.isclose(values, values.max(), rtol=TIED, atol=0))]


def describe_agreement(ways: AttributionSet) -> str:
    """Return which ways put the same word first as leaving words out, and whose order is most like its; "" for none.

    A way with a tie puts no single word first.
    """
    names, rows = [way.name for way in ways.attributions], np.stack([way.sizes for way in ways.attributions])
    effect = names.index(EFFECT)
    firsts = [places_of_largest(row) for row in rows]
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
        "closest": translate(closest).lower(),
        "most": with_effect[closest],
        "farthest": translate(farthest).lower(),
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
    return join_sentences(
        _("Of {words} words, {same} of the other {ways} ways put the same one first.", **values), order, _ties(firsts)
    )


def _ties(firsts: Sequence[Sequence[int]]) -> str:
    """Return how many ways have no single first word; "" if all have."""
    tied = sum(len(first) > 1 for first in firsts)
    return ngettext("{tied} way has a tie.", "{tied} ways have a tie.", tied, tied=tied) if tied else ""


def words_csv(ways: AttributionSet, cells: Sequence[DisplayToken]) -> str:
    """Every word's number and share by every way as CSV."""
    names = [_("word")]
    for way in ways.attributions:
        names += [translate(way.name), _("{way}, share of the row", way=way.name)]
    columns = [column for way in ways.attributions for column in (way.values, shares(way.sizes))]
    rows = [[cell.label, *(float(column[at]) for column in columns)] for at, cell in enumerate(cells)]
    return csv_table(names, rows)
