"""Rows of a CSV or TSV file by the names of its columns, with the line that does not fit."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from inference.errors import Refusal

DELIMITERS = ",;\t"


def rows(text: str, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The line and the fields of every row that is not blank; raises Refusal with the line that does not fit.

    Names of columns are read in lower case; those in ``columns`` must be there.

    >>> list(rows("a;b\\n1;2\\n\\n3;4\\n", ("a",)))
    [(2, {'a': '1', 'b': '2'}), (4, {'a': '3', 'b': '4'})]
    """
    head = text.split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        lacking = [column for column in columns if column not in header]
        if lacking:
            raise Refusal(f'Line 1 lacks the column "{lacking[0]}"; {", ".join(columns)} were expected.')
        line = reader.line_num + 1
        for fields in reader:
            if any(field.strip() for field in fields):
                if len(fields) != len(header):
                    raise Refusal(f"Line {line} has {len(fields)} columns; line 1 has {len(header)}.")
                yield line, dict(zip(header, fields, strict=True))
            line = reader.line_num + 1
    except csv.Error as error:
        raise Refusal(f"Line {line} is not CSV: a quotation mark or a separator stands where none can.") from error
