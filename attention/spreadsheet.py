"""Cells of a CSV file that no spreadsheet takes for a formula: the one rule for every file that is saved.

Excel, LibreOffice and Google Sheets run a cell that begins with one of these signs; what a visitor or a model's file
says may begin so. An apostrophe before it keeps it a text.
"""

from __future__ import annotations

SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_cell(cell: str) -> str:
    """A text as a cell; numbers are not given to this, and keep their sign.

    >>> safe_cell("=1+1"), safe_cell(" @x"), safe_cell("it")
    ("'=1+1", "' @x", 'it')
    """
    return f"'{cell}" if cell.startswith(SIGNS) or cell.lstrip().startswith(SIGNS) else cell


def plain_cell(cell: str) -> str:
    """The text that ``safe_cell`` made a cell of.

    >>> plain_cell("'=1+1"), plain_cell("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell[:1] == "'" and safe_cell(cell[1:]) == cell else cell
