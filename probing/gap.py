"""GAP (arXiv:1810.05201): a pronoun and two names, of which it means one, the other or neither.

Only rows where exactly one name is meant ask which.
"""

from __future__ import annotations

from attention.links import Item, Link, Span
from inference.errors import Refusal
from probing.corpus import Parsed

DIRECTIONS = ("pronoun to candidate",)
EMPTY = "in no row exactly one of A and B is TRUE"
RELATION = "coref"
COLUMNS = ("Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref")


def parse(text: str) -> Parsed:
    """Every row that asks as an item; raises Refusal with the line that is not GAP's TSV."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    header = lines[0].split("\t")
    lacking = [column for column in COLUMNS if column not in header]
    if lacking:
        raise Refusal(f'Line 1 lacks the column "{lacking[0]}"; GAP has {", ".join(COLUMNS)}, separated by tabs.')
    items, left_out = [], 0
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != len(header):
            raise Refusal(f"Line {number} has {len(fields)} columns separated by tabs; line 1 has {len(header)}.")
        row = dict(zip(header, fields, strict=True))
        right = [_flag(row, name, number) for name in ("A", "B")]
        if right[0] == right[1]:
            left_out += 1
            continue
        units = tuple(_unit(row, name, number) for name in ("Pronoun", "A", "B"))
        target, other = (1, 2) if right[0] else (2, 1)
        items.append(Item(row["Text"], units, (Link(RELATION, 0, target, (other,)),), number))
    return Parsed(tuple(items), left_out)


def _flag(row: dict[str, str], name: str, line: int) -> bool:
    value = row[f"{name}-coref"].strip().upper()
    if value not in ("TRUE", "FALSE"):
        raise Refusal(f'Line {line} has "{value[:20]}" under {name}-coref; TRUE or FALSE was expected.')
    return value == "TRUE"


def _unit(row: dict[str, str], name: str, line: int) -> Span:
    written, at = row[name], row[f"{name}-offset"].strip()
    start = int(at) if at.isascii() and at.isdigit() and len(at) < 10 else -1
    if start < 0 or not written.strip() or row["Text"][start : start + len(written)] != written:
        raise Refusal(f'Line {line} says that "{written[:40]}" begins at character {at[:20]} of its text; it does not.')
    return start, start + len(written)
