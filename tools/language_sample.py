"""Seeded sample of docstrings, on a sheet that a reader rates.

python -m tools.language_sample > SHEET.md              100 public docstrings, seed 0
python -m tools.language_sample --number 50 --seed 1 --no-pages
python -m tools.language_sample --count SHEET.md        share of each rating on a finished sheet

Each entry has a docstring without its examples, the signature and the place. The reader has not written the text,
reads each entry in order, and puts an x into one pair of brackets:

clear      understood at the first reading
second     understood at the second reading
unclear    not understood, or misunderstood: look at the code, then decide

The sample is drawn from public modules, classes and functions, methods included, outside tests/. The order depends
on the seed and each name only. A docstring that keeps its name and place is therefore in the sample before and
after a change, unless new names displace it.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.voice import EXAMPLE, PAGES, ROOT, python_files

RATINGS = ("clear", "second", "unclear")
CHOICES = " · ".join(f"[ ] {rating}" for rating in RATINGS)
RATED = re.compile(r"^\[( |x)\] clear · \[( |x)\] second · \[( |x)\] unclear$", re.MULTILINE | re.IGNORECASE)
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Entry:
    """A docstring, its place, and the name of the documented object, "" for a module."""

    path: str
    line: int
    name: str
    signature: str
    text: str

    def rank(self, seed: int) -> str:
        """Return the hash of seed, path and name by which entries are sorted."""
        return hashlib.sha256(f"{seed} {self.path} {self.name}".encode()).hexdigest()


def signature(node: Documented, path: str) -> str:
    """Return the signature of a function, the head of a class, or the name of a module.

    >>> signature(ast.parse("@cache\\ndef mean(rows: Rows, *, axis: int) -> float:\\n    ...").body[0], "a.py")
    'def mean(rows: Rows, *, axis: int) -> float'
    """
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, [*node.bases, *node.keywords]))
        return f"class {node.name}({bases})" if bases else f"class {node.name}"
    if isinstance(node, ast.Module):
        return f"module {path.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{kind} {node.name}({ast.unparse(node.args)}){result}"


def entries(path: str, source: str) -> Iterator[Entry]:
    """Yield the docstrings of a module and of its public classes, functions and methods."""
    waiting: list[tuple[str, Documented]] = [("", ast.parse(source))]
    for above, node in waiting:  # the list grows during the iteration
        text = EXAMPLE.sub("", ast.get_docstring(node) or "").strip()
        if text:
            yield Entry(path, node.body[0].lineno, above, signature(node, path), text)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += [
                (f"{above}.{inner.name}".strip("."), inner)
                for inner in node.body
                if isinstance(inner, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
                and not inner.name.startswith("_")
            ]


def draw(sources: Iterable[tuple[str, str]], number: int, seed: int, *, pages: bool) -> tuple[list[Entry], int]:
    """Return the first ``number`` docstrings in the order of the seed, and the total number of docstrings."""
    left_out = ("tests/",) if pages else ("tests/", *PAGES)
    found = [entry for path, source in sources if not path.startswith(left_out) for entry in entries(path, source)]
    return sorted(found, key=lambda entry: entry.rank(seed))[:number], len(found)


def sheet(sample: Sequence[Entry], found: int, seed: int) -> str:
    """Return the sheet to rate, in Markdown, with numbered entries."""
    lines = [f"# {len(sample)} of {found} docstrings, seed {seed}", "", "Put an x into one pair of brackets each."]
    for number, entry in enumerate(sample, 1):
        lines += [
            "",
            f"## {number} {entry.path}:{entry.line}",
            "",
            "```",
            entry.signature,
            "",
            entry.text,
            "```",
            CHOICES,
        ]
    return "\n".join(lines) + "\n"


def count(text: str) -> dict[str, int]:
    """Count the ratings on a finished sheet; raise ValueError for an entry without a single x."""
    found: Counter[str] = Counter()
    for number, marks in enumerate(RATED.findall(text), 1):
        chosen = [rating for rating, mark in zip(RATINGS, marks, strict=True) if mark != " "]
        if len(chosen) != 1:
            raise ValueError(
                f"Entry {number} has {len(chosen)} ratings; expected 1. Put an x into one pair of brackets."
            )
        found.update(chosen)
    return {rating: found[rating] for rating in RATINGS}


def main(arguments: Sequence[str]) -> int:
    """Print a sheet to rate, or the ratings of a finished sheet; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.language_sample", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pages", action=argparse.BooleanOptionalAction, default=True, help="include the pages")
    parser.add_argument("--count", type=Path, metavar="SHEET", help="print the ratings of a finished sheet")
    options = parser.parse_args(arguments)
    if options.count is None:
        print(sheet(*draw(python_files(ROOT), options.number, options.seed, pages=options.pages), options.seed), end="")
        return 0
    try:
        ratings = count(options.count.read_text(encoding="utf-8"))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    total = sum(ratings.values())
    for rating, times in ratings.items():
        print(f"{rating:8} {times:4} of {total}, {100 * times / max(total, 1):.0f}%")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
