"""On which line of a TOML file something stands: Python's own reader tells what is there, and not where."""

from __future__ import annotations

import re

Path = tuple[str | int, ...]

HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?")
ENTRY = re.compile(r"\s*([A-Za-z0-9_\-.\"' ]+?)\s*=")
QUOTES = re.compile(r'\\.|"""|\'\'\'')


def lines(text: str) -> dict[Path, int]:
    """The line, from 1, of every table and every key that begins a line; tables of an array by their number, from 0.

    >>> lines('a = 1\\n[[step]]\\ntitle.en = "x"\\n[[step]]\\n')
    {('a',): 1, ('step', 0): 2, ('step', 0, 'title', 'en'): 3, ('step', 1): 4}
    """
    found: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    quote = ""  # of a text over several lines that has not ended yet
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if not quote:
            if header := HEADER.fullmatch(line):
                table = _table(_names(header[2]), header[1] == "[[", counts)
                found.setdefault(table, number)
            elif entry := ENTRY.match(line):
                found.setdefault((*table, *_names(entry[1])), number)
        quote = _quote(line, quote)
    return found


def line_of(path: Path, found: dict[Path, int]) -> int:
    """The line of that place or of its first part that is named, else of the nearest one around it; 1 for the file.

    >>> line_of(("step", 0, "title"), {("step", 0): 2, ("step", 0, "title", "en"): 3})
    3
    """
    for end in range(len(path), 0, -1):
        inside = [line for place, line in found.items() if place[:end] == path[:end]]
        if inside:
            return min(inside)
    return 1


def _names(dotted: str) -> Path:
    return tuple(name.strip().strip("\"'") for name in dotted.split("."))


def _table(names: Path, many: bool, counts: dict[Path, int]) -> Path:
    """The full path of a header's table: names of arrays of tables are followed by the number of the last one."""
    path: Path = ()
    for at, name in enumerate(names):
        path = (*path, name)
        if many and at == len(names) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _quote(line: str, quote: str) -> str:
    """The mark of a text that is still open at the end of this line; "" where there is none."""
    for mark in QUOTES.findall(line):
        if mark == quote:
            quote = ""
        elif not quote and len(mark) == 3:
            quote = mark
    return quote
