"""A table as a CSV file that spreadsheets open: UTF-8 with its mark, no cell that would be run as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from viz.export import safe_cell


def csv_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The file; numbers keep all their digits, texts that look like formulas get an apostrophe.

    >>> csv_table(["word", "probability"], [("=it", 0.25), ("he", None)]).splitlines()[1:]
    ["'=it,0.25", 'he,']
    """
    page = io.StringIO(newline="")
    writer = csv.writer(page)
    writer.writerow(names)
    for row in rows:
        writer.writerow([safe_cell(cell) if isinstance(cell, str) else "" if cell is None else cell for cell in row])
    return "\ufeff" + page.getvalue()
