"""Parsing of uploaded sentences: plain text with a sentence on each line, or tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from i18n import _, gettext_lazy, translate
from i18n.lists import format_comma_list
from inference import UserError
from probing.delimited import JSON_LINES, find_delimiter, table_records

MOST_SENTENCES = 100_000
LONGEST = 20_000  # largest number of characters in a sentence
# Usual names of columns with texts.
NAMED = ("text", "sentence", "sentences", "texts", "content", "document", "review", "title")
LOOKED_AT = 1000  # number of rows that decide if a column holds texts
NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")
_WORDS = re.compile(r"[^\W\d_]{2}|[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True)
class SentenceTable:
    """A table: the names of its columns, its rows, and the columns that hold texts, the likeliest first."""

    names: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]  # (line on which the row begins, cells)
    texts: tuple[int, ...]


def is_table(name: str) -> bool:
    """Return True if a file's extension is that of a table.

    >>> is_table("a.CSV"), is_table("a.txt")
    (True, False)
    """
    return name.lower().endswith((".csv", ".tsv", ".jsonl", ".parquet"))


def lines(text: str) -> tuple[str, ...]:
    """Return the non-empty lines, stripped; raise UserError for none, too many or too long lines.

    >>> lines(" one \\n\\n two ")
    ('one', 'two')
    """
    return _check_lengths(list(enumerate(re.split(r"\r\n|\r|\n", text), 1)))


def parse_table(text: str) -> SentenceTable:
    """Parse a CSV or JSON Lines file; raise UserError if it has no rows or no column of texts.

    If the first row of a CSV file does not look like names, the columns are numbered.

    >>> parse_table("id;text\\n1;A first one.\\n").texts
    (1,)
    """
    delimiter = find_delimiter(text)
    rows = [(line, tuple(row)) for line, row in table_records(text, delimiter)]
    if rows and delimiter != JSON_LINES and not _names_columns(rows[0][1]):
        rows.insert(0, (0, ("",) * len(rows[0][1])))
    if len(rows) < 2:
        raise UserError(_("The file has only a header. Add rows."))
    width = len(rows[0][1])
    wide = next((line for line, row in rows if any(cell.strip() for cell in row[width:])), None)
    if wide is not None:
        raise UserError(
            _(
                "Line {line:,} has more columns than the header ({width}). Quote cells with separators.",
                line=wide,
                width=width,
            )
        )
    names = tuple(name.strip() or gettext_lazy("column {number}", number=at + 1) for at, name in enumerate(rows[0][1]))
    found = _texts(names, [row for _, row in rows[1 : LOOKED_AT + 1]])
    if not found:
        shown = format_comma_list([f"“{translate(name)[:30]}”" for name in names[:6]])
        raise UserError(
            _(
                "None of the columns {names} contains text. Add one, named in the first row.",
                names=shown,
            )
        )
    return SentenceTable(names, tuple(rows[1:]), found)


def _names_columns(first: Sequence[str]) -> bool:
    """Return True if a first row names the columns: it has a usual name, or no cell is a number."""
    names = [name.strip().lower() for name in first]
    return bool({*names} & {*NAMED}) or not any(NUMBER.fullmatch(name) for name in names)


def column(found: SentenceTable, at: int) -> tuple[str, ...]:
    """Return the non-empty cells of a column; raise UserError for none, too many or too long cells."""
    return _check_lengths([(number, " ".join(row[at].split())) for number, row in found.rows if at < len(row)])


def _texts(names: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """Return the columns of which most filled cells hold words.

    Columns with a usual name come first, then those with longer texts.
    """
    found: list[tuple[bool, float, int]] = []
    for at, name in enumerate(names):
        cells = [row[at] for row in rows if at < len(row) and row[at].strip()]
        if cells and 2 * sum(bool(_WORDS.search(cell)) for cell in cells) > len(cells):
            found.append((name.lower() not in NAMED, -sum(map(len, cells)) / len(cells), at))
    return tuple(at for _, _, at in sorted(found))


def _check_lengths(numbered: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    kept = [(number, text.strip()) for number, text in numbered if text.strip()]
    if not kept:
        raise UserError(_("No sentences found. Write one per line."))
    if len(kept) > MOST_SENTENCES:
        raise UserError(
            _(
                "Got {n:,} sentences; the limit is {most:,}. Split the file.",
                n=len(kept),
                most=MOST_SENTENCES,
            )
        )
    for number, text in kept:
        if len(text) > LONGEST:
            raise UserError(
                _(
                    "Line {line:,} has {n:,} characters; the limit is {most:,}. Split it.",
                    line=number,
                    n=len(text),
                    most=LONGEST,
                )
            )
    return tuple(text for _, text in kept)
