"""One's own CSV: in each text, a source word, the target it should look at, and a distractor.

The columns are text, source, target and distractor; a column relation is read where there is one. Words may be phrases.
One that stands several times in its text says which is meant: "the#2" is the second "the".
"""

from __future__ import annotations

import csv
import io
import re

from attention.links import Item, Link, Span
from inference.errors import Refusal
from probing.corpus import Parsed

DIRECTIONS = ("source to target", "target to source")
EMPTY = "it has no row below its header"
RELATION = "link"
COLUMNS = ("text", "source", "target", "distractor")
DELIMITERS = ",;\t"


def parse(text: str) -> Parsed:
    """Every row as an item; raises Refusal with the line that does not fit."""
    head = text.split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    items: list[Item] = []
    line = 1
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        lacking = [column for column in COLUMNS if column not in header]
        if lacking:
            raise Refusal(f'Line 1 lacks the column "{lacking[0]}"; {", ".join(COLUMNS)} were expected.')
        line = reader.line_num + 1
        for fields in reader:
            if any(field.strip() for field in fields):
                items.append(_item(header, fields, line))
            line = reader.line_num + 1
    except csv.Error as error:
        raise Refusal(f"Line {line} is not CSV: a quotation mark or a separator stands where none can.") from error
    return Parsed(tuple(items))


def _item(header: list[str], fields: list[str], line: int) -> Item:
    if len(fields) != len(header):
        raise Refusal(f"Line {line} has {len(fields)} columns; line 1 has {len(header)}.")
    row = dict(zip(header, fields, strict=True))
    text = row["text"].replace("\r\n", "\n").replace("\r", "\n")
    units = tuple(_find(text, row[name].strip(), name, line) for name in ("source", "target", "distractor"))
    if len(set(units)) < len(units):
        raise Refusal(f"Line {line} names the same word twice; source, target and distractor must be three words.")
    return Item(text, units, (Link(row.get("relation", "").strip() or RELATION, 0, 1, (2,)),), line)


def _find(text: str, phrase: str, column: str, line: int) -> Span:
    """Where a phrase stands in a text, as a whole word where it does; "it#2" is the second "it"."""
    if not phrase:
        raise Refusal(f"Line {line} has no {column}.")
    found = _places(text, phrase)
    if not found:
        numbered = re.fullmatch(r"(.+)#([1-9][0-9]{0,5})", phrase, re.DOTALL)
        found = _places(text, numbered[1])[int(numbered[2]) - 1 :][:1] if numbered else []
    elif len(found) > 1:
        raise Refusal(
            f'Line {line}: the {column} "{phrase[:40]}" stands {len(found)} times in its text. Say which is meant, as'
            f' in "{phrase[:40]}#2".'
        )
    if not found:
        raise Refusal(f'Line {line}: the {column} "{phrase[:40]}" does not stand in its text.')
    return found[0]


def _places(text: str, phrase: str) -> list[Span]:
    """Every place of a phrase: as a whole word, or anywhere where words are not separated."""
    whole = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", text)]
    return whole or [match.span() for match in re.finditer(re.escape(phrase), text)]
