"""Rows of a CSV, TSV or JSON Lines file by the names of its columns, with the line that does not fit."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence

from inference.errors import Refusal
from wording import sentence

DELIMITERS = ",;\t"


def rows(text: str, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The line and the fields of every row that is not blank; raises Refusal with the line that does not fit.

    Names of columns are read in lower case; those in ``columns`` must be there.

    >>> list(rows("a;b\\n1;2\\n\\n3;4\\n", ("a",)))
    [(2, {'a': '1', 'b': '2'}), (4, {'a': '3', 'b': '4'})]
    """
    head = text.split("\n", 1)[0]
    if head.lstrip().startswith("{") and is_json(head):
        found = json_records(text.split("\n"))
    else:
        found = records(io.StringIO(text, newline=""), max(DELIMITERS, key=head.count))
    header = [name.strip().lower() for name in next(found, (1, []))[1]]
    lacking = [column for column in columns if column not in header]
    if lacking:
        raise Refusal(
            sentence(
                'Line 1 lacks the column "{lacking}"; {columns} were expected.',
                lacking=lacking[0],
                columns=", ".join(columns),
            )
        )
    for line, fields in found:
        if any(field.strip() for field in fields):
            if len(fields) != len(header):
                raise Refusal(
                    sentence(
                        "Line {line} has {fields} columns; line 1 has {header}.",
                        line=line,
                        fields=len(fields),
                        header=len(header),
                    )
                )
            yield line, dict(zip(header, fields, strict=True))


def records(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The line and the fields of every row, blank ones too; raises Refusal with the line that is not CSV.

    >>> list(records(["1;'2\\n", '"3\\n', '";4\\n'], ";"))
    [(1, ['1', "'2"]), (2, ['3\\n', '4'])]
    """
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 1
    try:
        for fields in reader:
            yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise Refusal(
            sentence("Line {line} is not CSV: a quotation mark or a separator stands where none can.", line=line)
        ) from error


def json_records(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the names in the first object of a JSON Lines file, then the values of each object, with its line.

    >>> list(json_records(['{"text": "a", "label": 0}', '{"label": 1, "text": "b"}']))
    [(1, ['text', 'label']), (1, ['a', '0']), (2, ['b', '1'])]
    """
    names: list[str] = []
    for line, written in enumerate(lines, start=1):
        if not written.strip():
            continue
        try:
            found = json.loads(written)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or not found:
            raise Refusal(
                sentence(
                    "Line {line} is not a JSON object. JSON Lines has one on each line, such as {example}.",
                    line=line,
                    example='{"text": "…", "label": "…"}',
                )
            )
        if not names:
            names = list(found)
            yield line, names
        yield line, [_cell(found.get(name)) for name in names]


def _cell(value: object) -> str:
    """Return a JSON value as the field of a table."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def is_json(text: str) -> bool:
    """Return whether the whole text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
