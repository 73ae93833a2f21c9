"""A table as a CSV file that spreadsheets open: UTF-8 with its mark, no cell that would be run as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

import pandas as pd

from attention.spreadsheet import safe_cell

MARK = "\ufeff"  # tells a spreadsheet that the file is UTF-8


def csv_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The file; numbers keep all their digits, texts that look like formulas get an apostrophe.

    >>> csv_table(["word", "probability"], [("=it", 0.25), ("he", None)]).splitlines()[1:]
    ["'=it,0.25", 'he,']
    >>> csv_table(["=model"], ())
    "\\ufeff'=model\\r\\n"
    """
    page = io.StringIO(newline="")
    writer = csv.writer(page)
    for row in (names, *rows):
        writer.writerow([safe_cell(cell) if isinstance(cell, str) else "" if cell is None else cell for cell in row])
    return MARK + page.getvalue()


def frame_csv(table: pd.DataFrame) -> str:
    """A table as it is shown, without its index; what is not known is an empty cell.

    >>> frame_csv(pd.DataFrame({"word": ["=it", "he"], "layers": pd.array([6, None], "Int64")})).splitlines()[1:]
    ["'=it,6", 'he,']
    """
    known = table.astype(object).where(table.notna(), None)
    return csv_table([str(name) for name in known], known.itertuples(index=False))


def below(caption: str, table: str) -> str:
    """A table under what says where it comes from, an empty line between them, as one file.

    >>> below(csv_table(["model", "tiny"], ()), csv_table(["a"], [(1,)])).splitlines()
    ['\\ufeffmodel,tiny', '', 'a', '1']
    """
    return f"{caption}\r\n{table.removeprefix(MARK)}"
