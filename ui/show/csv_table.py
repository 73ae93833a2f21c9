"""A table as a CSV file that spreadsheets open: UTF-8 with its mark, no cell that would be run as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

import pandas as pd

from attention.spreadsheet import MARK, column_names, safe_cell


def csv_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the file: numbers keep all digits, texts that look like formulas get an apostrophe.

    The names become unique and not empty. Raises ValueError if a row has more or fewer cells than there are names.

    >>> csv_table(["word", "probability"], [("=it", 0.25), ("he", None)]).splitlines()[1:]
    ["'=it,0.25", 'he,']
    >>> csv_table(["=model"], ())
    "\\ufeff'=model\\r\\n"
    """
    page = io.StringIO(newline="")
    writer = csv.writer(page)
    writer.writerow(column_names(names))
    for row in rows:
        cells = [safe_cell(cell) if isinstance(cell, str) else "" if cell is None else cell for cell in row]
        if len(cells) != len(names):
            raise ValueError(f"A row has {len(cells)} cells; the table has {len(names)} columns.")
        writer.writerow(cells)
    return MARK + page.getvalue()


def frame_csv(table: pd.DataFrame) -> str:
    """A table as it is shown, without its index; what is not known is an empty cell.

    >>> frame_csv(pd.DataFrame({"word": ["=it", "he"], "layers": pd.array([6, None], "Int64")})).splitlines()[1:]
    ["'=it,6", 'he,']
    """
    known = table.astype(object).where(table.notna(), None)
    return csv_table([str(name) for name in known], known.itertuples(index=False))
