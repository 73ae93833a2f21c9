"""The small example as a CSV file and as one word of an address.

    matrix,row,1,2,3
    X,one,1,0,0
    X,two,0,1,0
    W_Q,1,0,20,0
    …

One line per row of a matrix: the matrix's name, the row's name, its numbers. X comes with the tokens as row names;
W_Q, W_K and W_V have a row for each column of X. The file that Headlight writes goes on with Q, K, V and everything
else that follows; these lines are left out when a file is read, because they are computed anew.
"""

from __future__ import annotations

import base64
import binascii
import csv
import io
import re
import zlib
from collections.abc import Iterable, Sequence

import numpy as np

from attention.by_hand import Numbers, Worked
from inference import Refusal
from ui.pages.by_hand.example import LARGEST, LONGEST_NAME, TOKENS, WIDTH, Example

INPUTS = {"X": "x", "W_Q": "w_q", "W_K": "w_k", "W_V": "w_v"}
RESULTS = re.compile(r"(Q|K|V|Q·Kᵀ|Q·Kᵀ/√d_k|masked|A|A·V|result)( head [1-8])?")
LARGEST_FILE = 100_000  # bytes
FORMULA = ("=", "+", "-", "@", "\t")  # what a spreadsheet would run, at the start of a name

Line = Sequence[str | float]


def write(example: Example, worked: Worked | None = None) -> str:
    """The example as a file, with every result where ``worked`` is given."""
    lines: list[Line] = [["matrix", "row", *range(1, max(example.x.shape[1], example.width) + 1)]]
    for name, field in INPUTS.items():
        rows = example.tokens if name == "X" else [str(row + 1) for row in range(example.x.shape[1])]
        lines += _lines(name, rows, getattr(example, field))
    if worked is not None:
        for name, matrix in _results(worked):
            lines += _lines(name, example.tokens, matrix)
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(lines)
    return out.getvalue()


def read(content: bytes) -> Example:
    """The example in a file. Raises Refusal, in one sentence, for anything else.

    >>> read(b"X,a,1\\nX,b,2\\nW_Q,1,0.5\\nW_K,1,1\\nW_V,1,-1").x.tolist()
    [[1.0], [2.0]]
    """
    if len(content) > LARGEST_FILE:
        raise Refusal(
            f"The file has {len(content):,} bytes; an example has at most {LARGEST_FILE:,}. Pick another file."
        )
    try:
        text = content.decode("utf-8-sig")
        separator = max(",;\t", key=text.partition("\n")[0].count)
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise Refusal("The file is no CSV in UTF-8; save it as “CSV UTF-8” and open it again.") from None
    rows: dict[str, list[list[float]]] = {name: [] for name in INPUTS}
    tokens = []
    for number, line in enumerate(lines, 1):
        name = line[0].strip().upper() if line else ""
        if name == "X":
            tokens.append(_token(line, number))
        if name in INPUTS:
            rows[name].append([_number(cell, number, separator) for cell in _filled(line[2:])])
        elif name not in ("", "MATRIX") and not RESULTS.fullmatch(line[0].strip()):
            raise Refusal(
                f"Line {number} is of a matrix called {line[0][:40]!r}; a line begins with X, W_Q, W_K or W_V."
            )
    return _example(tokens, rows)


def pack(example: Example) -> str:
    """The example as one word for an address; ``unpack`` is its inverse."""
    return base64.urlsafe_b64encode(zlib.compress(write(example).encode(), 9)).decode().rstrip("=")


def unpack(word: str) -> Example:
    """The example that a word of an address stands for. Raises Refusal."""
    try:
        data = base64.urlsafe_b64decode(word + "=" * (-len(word) % 4))
        return read(zlib.decompressobj().decompress(data, LARGEST_FILE + 1))
    except (binascii.Error, zlib.error, ValueError):  # a Refusal of the content is a ValueError
        raise Refusal("The link's numbers are damaged; the preset's are shown. Ask for the link again.") from None


def _lines(name: str, rows: Iterable[str], matrix: Numbers) -> list[Line]:
    safe = (f"'{row}" if row.startswith(FORMULA) else row for row in rows)
    return [[name, row, *map(_shortest, numbers)] for row, numbers in zip(safe, matrix.tolist(), strict=True)]


def _shortest(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)


def _results(worked: Worked) -> Iterable[tuple[str, Numbers]]:
    yield from (("Q", worked.queries), ("K", worked.keys), ("V", worked.values))
    by_head = {
        "Q·Kᵀ": worked.products,
        "Q·Kᵀ/√d_k": worked.scaled,
        "masked": worked.masked,
        "A": worked.weights,
        "A·V": worked.mixed,
    }
    for name, matrices in by_head.items():
        yield from ((f"{name} head {head + 1}", matrix) for head, matrix in enumerate(matrices))
    yield "result", worked.result


def _filled(cells: Sequence[str]) -> Sequence[str]:
    """Without the empty cells that a spreadsheet adds at the end of shorter lines."""
    end = max((place + 1 for place, cell in enumerate(cells) if cell.strip()), default=0)
    return cells[:end]


def _token(line: Sequence[str], number: int) -> str:
    name = line[1].strip() if len(line) > 1 else ""
    name = name[1:] if name[:1] == "'" and name[1:].startswith(FORMULA) else name
    if not name or len(name) > LONGEST_NAME:
        raise Refusal(f"Line {number} of X needs a token of 1 to {LONGEST_NAME} letters in its second cell.")
    return name


def _number(cell: str, line: int, separator: str) -> float:
    text = cell.strip().replace("−", "-")
    text = text.replace(",", ".") if separator != "," else text
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) <= LARGEST:
        raise Refusal(f"Line {line} holds {cell[:40]!r}; a cell is a number from -{LARGEST:,.0f} to {LARGEST:,.0f}.")
    return value


def _example(tokens: list[str], rows: dict[str, list[list[float]]]) -> Example:
    """The matrices, once their sizes fit together."""
    matrices = {}
    for name, lines in rows.items():
        widths = {len(line) for line in lines}
        if not lines or len(widths) > 1 or 0 in widths:
            what = "is missing" if not lines else "has lines of different lengths, or empty ones"
            raise Refusal(f"{name} {what}; the file needs X, W_Q, W_K and W_V, each a table of numbers.")
        matrices[name] = np.array(lines)
    count, columns = matrices["X"].shape
    shape = (columns, matrices["W_Q"].shape[1])
    if not (TOKENS[0] <= count <= TOKENS[1] and max(shape) <= WIDTH[1]):
        raise Refusal(
            f"X is {count} × {columns} and W_Q has {shape[1]} columns; there may be {TOKENS[0]} to {TOKENS[1]} tokens "
            f"and at most {WIDTH[1]} columns."
        )
    for name in ("W_Q", "W_K", "W_V"):
        if matrices[name].shape != shape:
            have = " × ".join(map(str, matrices[name].shape))
            raise Refusal(f"{name} is {have}; X and W_Q ask for {shape[0]} × {shape[1]}.")
    return Example(tuple(tokens), *matrices.values())
