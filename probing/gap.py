"""GAP (arXiv:1810.05201): a pronoun and two names, of which it means one, the other or neither.

Only rows where exactly one name is meant ask which.
"""

from __future__ import annotations

from attention.annotations import AnnotatedText, Link, Span
from i18n import gettext_lazy
from inference.errors import UserError
from probing.corpus import ParsedCorpus

DIRECTIONS = (gettext_lazy("pronoun to candidate"),)
EMPTY = gettext_lazy("in no row exactly one of A and B is TRUE")
RELATION = "coref"
COLUMNS = ("Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref")


def parse(text: str) -> ParsedCorpus:
    """Every row that asks as an item; raises Refusal with the line that is not GAP's TSV."""
    lines = text.split("\n")
    header = lines[0].split("\t")
    lacking = [column for column in COLUMNS if column not in header]
    if lacking:
        raise UserError(
            gettext_lazy(
                'Line 1 lacks the column "{lacking}"; GAP has {columns}, separated by tabs.',
                lacking=lacking[0],
                columns=", ".join(COLUMNS),
            )
        )
    items, left_out = [], 0
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != len(header):
            raise UserError(
                gettext_lazy(
                    "Line {number} has {fields} columns separated by tabs; line 1 has {header}.",
                    number=number,
                    fields=len(fields),
                    header=len(header),
                )
            )
        row = dict(zip(header, fields, strict=True))
        right = [_flag(row, name, number) for name in ("A", "B")]
        if right[0] == right[1]:
            left_out += 1
            continue
        units = tuple(_unit(row, name, number) for name in ("Pronoun", "A", "B"))
        _refuse_overlap(units, number)
        target, other = (1, 2) if right[0] else (2, 1)
        items.append(AnnotatedText(row["Text"], units, (Link(RELATION, 0, target, (other,)),), number))
    return ParsedCorpus(tuple(items), left_out)


def _flag(row: dict[str, str], name: str, line: int) -> bool:
    value = row[f"{name}-coref"].strip().upper()
    if value not in ("TRUE", "FALSE"):
        raise UserError(
            gettext_lazy(
                'Line {line} has "{value}" under {name}-coref; TRUE or FALSE was expected.',
                line=line,
                value=value[:20],
                name=name,
            )
        )
    return value == "TRUE"


def _unit(row: dict[str, str], name: str, line: int) -> Span:
    written, at = row[name], row[f"{name}-offset"].strip()
    start = int(at) if at.isascii() and at.isdigit() and len(at) < 10 else -1
    if start < 0 or not written.strip() or row["Text"][start : start + len(written)] != written:
        raise UserError(
            gettext_lazy(
                'Line {line} says that "{written}" begins at character {character} of its text; it does not.',
                line=line,
                written=written[:40],
                character=at[:20],
            )
        )
    return start, start + len(written)


def _refuse_overlap(units: tuple[Span, ...], line: int) -> None:
    """Raise Refusal if two of the pronoun, A and B share characters."""
    names = ("Pronoun", "A", "B")
    for one in range(3):
        for other in range(one):
            if units[one][0] < units[other][1] and units[other][0] < units[one][1]:
                raise UserError(
                    gettext_lazy(
                        "Line {line}: {first} and {second} are the same place in its text, or overlap.",
                        line=line,
                        first=names[other],
                        second=names[one],
                    )
                )
