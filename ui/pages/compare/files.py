"""Downloads of a comparison: CSV tables and an HTML page, with the provenance of both readings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention.edits import pack
from attention.mask import FloatArray
from i18n import _
from ui.pages.compare.comparison import Comparison
from ui.show.tables import csv_table
from viz.components.matrices.matrices import MatrixSpec, matrices_html
from viz.export import caption, format_value


def heads_csv(found: Comparison) -> str:
    """Return a CSV row per head: its counterpart, the divergence in bits, and the unmatched weights."""
    names = ["layer", "head", "second layer", "second head", "divergence in bits", "first, not compared",
             "second, not compared"]  # fmt: skip
    bits, (first, second) = found.changes.bits, found.changes.lost
    rows = (
        [*_numbers((layer, head)), *_numbers(tuple(found.heads[layer, head])),
         *(values[layer, head] for values in (bits, first, second))]
        for layer, head in np.ndindex(*bits.shape)
    )  # fmt: skip
    return csv_table(names, rows)


def links_csv(found: Comparison, rows: range, columns: range, first: FloatArray, second: FloatArray) -> str:
    """Return CSV with a row for each pair of query and key tokens in the chosen head's maps.

    ``first`` and ``second`` are the weights in the two traces, (query, key), at the aligned tokens of ``rows`` and
    ``columns``.
    """
    label = found.sides.label
    lines = (
        [label(row, key=False), label(column, key=True), one, other, other - one]
        for row, ones, others in zip(rows, first, second, strict=True)
        for column, one, other in zip(columns, ones, others, strict=True)
    )  # fmt: skip
    return csv_table(["from", "to", "first", "second", "second - first"], lines)


def page_html(found: Comparison, sentences: Sequence[str], sheets: Sequence[MatrixSpec]) -> str:
    """Return the maps and the changes of all heads as a self-contained HTML page."""
    bits = found.changes.bits
    layers, heads = (tuple(str(at) for at in range(size)) for size in bits.shape)
    grid = MatrixSpec(
        _("Every head's change"),
        bits,
        layers,
        heads,
        _("Rows: layers; columns: heads; values: divergence in bits."),
        "sequential",
        marked_rows=(found.head[0],),
        marked_columns=(found.head[1],),
    )
    return matrices_html(_("Headlight · comparison"), sentences, [*sheets, grid], caption_fields(found))


def caption_fields(found: Comparison) -> list[tuple[str, str]]:
    """Return (name, value) pairs of the captions; values that differ appear once for each reading."""
    told: list[tuple[str, str]] = []
    for name, one, other in _captions(found):
        told += [(name, one)] if one == other else [(f"{name}, first", one), (f"{name}, second", other)]
    return [(name, value) for name, value in told if value]


def comparison_provenance(found: Comparison) -> dict[str, Any]:
    """Return both captions and the edits of the second reading, for the provenance of tables."""
    one, other = _both_captions(found)
    return {"first": one, "second": other, "removed": pack(found.sides.edits)}


def _captions(found: Comparison) -> list[list[str]]:
    """Return [name, first value, second value] for each field of the captions."""
    one, other = _both_captions(found)
    about = [
        [name.replace("_", " "), format_value(one.get(name)), format_value(other.get(name))] for name in one | other
    ]
    return [*about, ["removed", "", pack(found.sides.edits)]]


def _both_captions(found: Comparison) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the captions of both readings, which suffice to compute the numbers again."""
    beside = found.sides.beside
    one, other = (caption(view, *place) for view, place in ((beside.left, found.head), (beside.right, found.partner)))
    return one, other


def _numbers(place: Sequence[int]) -> list[int]:
    return [int(number) for number in place]
