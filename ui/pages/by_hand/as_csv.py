"""The small example as a CSV file, and packed for an address.

    matrix,row,1,2,3
    X,one,1,0,0
    X,two,0,1,0
    W_Q,1,0,20,0
    …

Each line is a row of a matrix: the name of the matrix, the name of the row, and its numbers. The rows of X have the
tokens as names, and those of E the words of the vocabulary. W_Q, W_K and W_V have a row for each column of X. W_O, W_1,
W_2 and E are optional: W_O, W_1 and W_2 default to identity matrices, and E defaults to X with the tokens as words. A
file that Headlight writes also contains the results (Q, K, V and so on), which are ignored when it is read.
"""

from __future__ import annotations

import base64
import binascii
import csv
import io
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attention.spreadsheet import plain_cell, safe_cell
from attention.toy_example import Numbers, ToyAttention, ToyExample
from i18n import gettext_lazy
from inference import UserError
from ui.input.controls import format_shortest, read_number
from ui.pages.by_hand.example import LONGEST_NAME, MATRICES, NAMES, TITLES, TOKENS, WIDTH, Example, attention_example

INPUTS = {title: name for name, title in TITLES.items()}
NEEDED = ("x", "w_q", "w_k", "w_v")
# Heads count from 0; files of earlier versions count from 1.
RESULTS = re.compile(
    r"(P|X \+ P|Q|K|V|Q·Kᵀ|Q·Kᵀ/√d_k|masked|e\^s|sum of e\^s|A|A·V|result|result·W_O|X \+ attention"
    r"|LayerNorm|N·W_1|ReLU|·W_2|sum|LayerNorm of the sum|logits|e\^logit|sum of e\^logit|next word)( head [0-8])?"
)
LARGEST_FILE = 100_000  # bytes

Line = Sequence[str | float]


def write(example: Example, found: ToyExample | None = None, names: Sequence[str] = MATRICES) -> str:
    """Return the matrices ``names`` of the example as CSV; if ``found`` is given, append all results.

    Shorter rows are padded with empty cells, so that the file is a rectangular table.
    """
    lines: list[Line] = []
    for name in names:
        matrix = getattr(example, name)
        rows = getattr(example, NAMES[name]) if name in NAMES else [str(row + 1) for row in range(len(matrix))]
        lines += _lines(TITLES[name], rows, matrix)
    if found is not None:
        for title, matrix in _results(found):
            lines += _lines(title, example.tokens, matrix)
    widest = max(map(len, lines), default=2)
    lines = [["matrix", "row", *range(1, widest - 1)], *([*line, *[""] * (widest - len(line))] for line in lines)]
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(lines)
    return out.getvalue()


def read(content: bytes) -> Example:
    """Parse an example from a CSV file.

    Raise UserError if the file is not a valid example.

    >>> read(b"X,a,1\\nX,b,2\\nW_Q,1,0.5\\nW_K,1,1\\nW_V,1,-1").x.tolist()
    [[1.0], [2.0]]
    """
    if len(content) > LARGEST_FILE:
        raise UserError(
            gettext_lazy(
                "The file has {size:,} bytes; the limit is {most:,}. Split it.",
                size=len(content),
                most=LARGEST_FILE,
            )
        )
    try:
        text = content.decode("utf-8-sig")
        separator = max(",;\t", key=text.partition("\n")[0].count)
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise UserError(gettext_lazy("This is not CSV in UTF-8. Save it as “CSV UTF-8”.")) from None
    rows: dict[str, list[list[float]]] = {title: [] for title in INPUTS}
    names: dict[str, list[str]] = {title: [] for title in INPUTS}
    for number, line in enumerate(lines, 1):
        title = line[0].strip().upper() if line else ""
        if INPUTS.get(title) in NAMES:
            names[title].append(_name(line, number))
        if title in INPUTS:
            rows[title].append([_number(cell, number) for cell in _drop_empty_cells(line[2:])])
        elif title not in ("", "MATRIX") and not RESULTS.fullmatch(line[0].strip()):
            raise UserError(
                gettext_lazy(
                    "Line {number} has the matrix {name!r}; expected {names}.",
                    number=number,
                    name=line[0][:40],
                    names=", ".join(INPUTS),
                )
            )
    return _example(names, rows)


def pack(example: Example) -> str:
    """Return the example as base64 text for an address; ``unpack`` is the inverse.

    Matrices that equal those of ``attention_example`` are left out.
    """
    alone = attention_example(example.tokens, *(getattr(example, name) for name in NEEDED))
    same = {name for name in MATRICES if np.array_equal(getattr(alone, name), getattr(example, name))}
    usual = same - set(NEEDED) - ({"e"} if alone.words != example.words else set())
    text = write(example, names=[name for name in MATRICES if name not in usual])
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def unpack(word: str) -> Example:
    """Return the example that ``pack`` wrote. Raise UserError if the text is damaged."""
    try:
        data = base64.urlsafe_b64decode(word + "=" * (-len(word) % 4))
        return read(zlib.decompressobj().decompress(data, LARGEST_FILE + 1))
    except (binascii.Error, zlib.error, ValueError):  # UserError from read is a ValueError
        raise UserError(gettext_lazy("The link's numbers are damaged; the preset is shown.")) from None


def _lines(name: str, rows: Iterable[str], matrix: Numbers) -> list[Line]:
    return [
        [name, safe_cell(row), *map(format_shortest, numbers)]
        for row, numbers in zip(rows, matrix.tolist(), strict=True)
    ]


def _results(found: ToyExample) -> Iterable[tuple[str, Numbers]]:
    if found.positions is not None:
        yield from (("P", found.positions), ("X + P", found.x))
    yield from _attention_matrices(found.worked)
    yield "result·W_O", found.joined
    if found.layer is not None:
        layer = found.layer
        yield from (("X + attention", layer.added), ("LayerNorm", layer.normed), ("N·W_1", layer.hidden))
        yield from (("ReLU", layer.active), ("·W_2", layer.forward), ("sum", layer.summed))
        yield "LayerNorm of the sum", layer.closed
    yield from (("logits", found.logits), ("e^logit", found.powers), ("sum of e^logit", found.sums[:, None]))
    yield "next word", found.chances


def _attention_matrices(worked: ToyAttention) -> Iterable[tuple[str, Numbers]]:
    yield from (("Q", worked.queries), ("K", worked.keys), ("V", worked.values))
    by_head = {
        "Q·Kᵀ": worked.products,
        "Q·Kᵀ/√d_k": worked.scaled,
        "masked": worked.masked,
        "e^s": worked.powers,
        "sum of e^s": worked.sums[..., None],
        "A": worked.weights,
        "A·V": worked.mixed,
    }
    for name, matrices in by_head.items():
        yield from ((f"{name} head {head}", matrix) for head, matrix in enumerate(matrices))
    yield "result", worked.result


def _drop_empty_cells(cells: Sequence[str]) -> Sequence[str]:
    """Drop the empty cells that a spreadsheet adds at the end of shorter lines."""
    end = max((place + 1 for place, cell in enumerate(cells) if cell.strip()), default=0)
    return cells[:end]


def _name(line: Sequence[str], number: int) -> str:
    name = plain_cell(line[1].strip()) if len(line) > 1 else ""
    if not name or len(name) > LONGEST_NAME:
        raise UserError(
            gettext_lazy(
                "Cell 2 of line {number} ({matrix}) needs a name of 1 to {most} characters.",
                number=number,
                matrix=line[0].strip().upper(),
                most=LONGEST_NAME,
            )
        )
    return name


def _number(cell: str, line: int) -> float:
    try:
        if not cell.strip():
            raise UserError(gettext_lazy("An empty cell is not a number; write 0."))
        return read_number(cell)
    except UserError as refusal:
        raise UserError(gettext_lazy("Line {line}: {reason}", line=line, reason=refusal.message)) from None


def _missing_message(title: str) -> str:
    return gettext_lazy("{matrix} is missing; expected X, W_Q, W_K and W_V.", matrix=title)


def _uneven_message(title: str) -> str:
    return gettext_lazy(
        "{matrix} has lines of different lengths or none; write a full table.",
        matrix=title,
    )


def _example(names: dict[str, list[str]], rows: dict[str, list[list[float]]]) -> Example:
    """Build the example from parsed rows. Raise UserError if a matrix is missing or has a wrong shape."""
    found: dict[str, Any] = {}
    for title, lines in rows.items():
        widths = {len(line) for line in lines}
        if len(widths) > 1 or 0 in widths or (not lines and INPUTS[title] in NEEDED):
            raise UserError(_uneven_message(title) if lines else _missing_message(title))
        if lines:
            found[INPUTS[title]] = np.array(lines)
    count, columns = found["x"].shape
    width, hidden = found["w_q"].shape[1], found["w_1"].shape[1] if "w_1" in found else columns
    many = len(found["e"]) if "e" in found else count
    if not (
        TOKENS[0] <= min(count, many) and max(count, many) <= TOKENS[1] and max(columns, width, hidden) <= WIDTH[1]
    ):
        raise UserError(
            gettext_lazy(
                "X is {count} × {columns}, W_Q has {width} columns, W_1 {hidden}, E {many} rows; "
                "expected {fewest} to {most} tokens and words, at most {widest} columns.",
                count=count,
                columns=columns,
                width=width,
                hidden=hidden,
                many=many,
                fewest=TOKENS[0],
                most=TOKENS[1],
                widest=WIDTH[1],
            )
        )
    shapes = {
        **dict.fromkeys(("w_q", "w_k", "w_v"), (columns, width)),
        "w_o": (width, columns),
        "w_1": (columns, hidden),
        "w_2": (hidden, columns),
        "e": (many, columns),
    }
    for name, shape in shapes.items():
        if name in found and found[name].shape != shape:
            have = " × ".join(map(str, found[name].shape))
            raise UserError(
                gettext_lazy(
                    "{matrix} is {size}; expected {rows} × {columns}.",
                    matrix=TITLES[name],
                    size=have,
                    rows=shape[0],
                    columns=shape[1],
                )
            )
    if "w_1" in found and "w_2" not in found and hidden != columns:
        raise UserError(
            gettext_lazy("W_2 is missing; it maps {hidden} columns to {columns}.", hidden=hidden, columns=columns)
        )
    alone = attention_example(names["X"], *(found[name] for name in NEEDED))
    return replace(alone, **found, words=tuple(names["E"]) or alone.words)
