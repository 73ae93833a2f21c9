"""Reader of CSV, TSV and JSON Lines files that reports the line of an error.

Tab-separated fields are read verbatim, since files of texts seldom quote fields. Spreadsheets, however, quote fields
that contain tabs or line ends. In three cases, a file is read as such a spreadsheet: its header is quoted, its
lines differ in their number of tabs, or they have fewer fields if quotation marks are respected.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from i18n import gettext_lazy
from inference.errors import UserError

DELIMITERS = ",;\t|"
JSON_LINES = ""  # in place of a delimiter
SAMPLE = 1_000  # rows that are sampled to find the columns
LARGEST_FIELD = 1_000_000  # maximal characters of a field
csv.field_size_limit(LARGEST_FIELD)

Record = tuple[int, list[str]]  # (line, fields)


def rows(text: str, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line number of every row that is not blank, and its fields by column name.

    The first row has the column names, which are converted to lower case. The names in ``columns`` must occur exactly
    once. Raise UserError with the line of an error.

    >>> list(rows("a;b\\n1;2\\n\\n3;4\\n", ("a",)))
    [(2, {'a': '1', 'b': '2'}), (4, {'a': '3', 'b': '4'})]
    """
    found = table_records(text, find_delimiter(text))
    first, names = next(found, (1, []))
    header = [name.strip().lower() for name in names]
    if not header:
        raise UserError(
            gettext_lazy(
                "The file is empty. Its first row must name the columns: {columns}.", columns=", ".join(columns)
            )
        )
    lacking = [column for column in columns if column not in header]
    if lacking:
        raise UserError(
            gettext_lazy(
                'Line {line} lacks the column "{lacking}"; expected {columns}.',
                line=first,
                lacking=lacking[0],
                columns=", ".join(columns),
            )
        )
    refuse_same_names(header, columns)
    for line, fields in found:
        yield line, dict(zip(header, fit_row(fields, line, len(header), first), strict=True))


def fit_row(fields: list[str], line: int, wanted: int, first: int) -> list[str]:
    """Return the first ``wanted`` fields of a row, without the empty fields that spreadsheets append.

    Raise UserError if the row has fewer fields, or text in surplus fields. The message names ``line`` and ``first``,
    the line of the header.

    >>> fit_row(["a", "b", "", " "], 2, 2, 1)
    ['a', 'b']
    """
    if len(fields) < wanted or any(field.strip() for field in fields[wanted:]):
        raise UserError(
            gettext_lazy(
                "Line {line} has {fields} columns; line {first} has {wanted}.",
                line=line,
                fields=len(fields),
                first=first,
                wanted=wanted,
            )
        )
    return fields[:wanted]


def refuse_same_names(header: Sequence[str], columns: Iterable[str]) -> None:
    """Raise UserError if a name in ``columns`` occurs twice in the header."""
    counts = Counter(header)
    twice = next((name for name in columns if counts[name] > 1), None)
    if twice is not None:
        raise UserError(
            gettext_lazy(
                "{count} columns are named “{name}”. Rename all but one.", count=counts[twice], name=twice[:40]
            )
        )


def lines(text: str) -> Iterator[str]:
    """Yield the lines of a text, each with its line end, without copying the whole text.

    >>> list(lines("a\\n\\nb"))
    ['a\\n', '\\n', 'b']
    """
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def find_delimiter(text: str) -> str:
    """Return the delimiter of a table, or ``JSON_LINES``; raise UserError for a single JSON value.

    A delimiter fits if it divides each of the first thousand rows into the same number of fields. Fields that begin
    with a space count against a delimiter, because a comma in a sentence is followed by a space. If none fits, the most
    frequent delimiter in the first line is returned.

    >>> find_delimiter("a;b\\n1,5;2\\n"), find_delimiter('{"a": 1}\\n')
    (';', '')
    """
    first = next((line for line in lines(text) if line.strip()), "")
    if first.lstrip().startswith("{") and is_json(first):
        return JSON_LINES
    if first.lstrip().startswith(("[", "{")) and is_json(text):
        raise UserError(gettext_lazy("The file is one JSON value. Save it as JSON Lines."))
    found: dict[str, bool] = {}  # delimiter -> True if a space follows each occurrence
    for delimiter in sorted(DELIMITERS):  # the tab sorts first
        try:
            sample = [fields for _, fields in islice(table_records(text, delimiter), SAMPLE)]
        except UserError:
            continue
        widths = set(map(len, sample))
        if len(widths) == 1 and widths != {1}:
            found[delimiter] = all(field.startswith(" ") for fields in sample for field in fields[1:])
    if found:
        return min(found, key=lambda delimiter: found[delimiter])
    return max(DELIMITERS, key=first.count)


def table_records(text: str, delimiter: str) -> Iterator[Record]:
    """Yield the line number and the fields of every row that is not blank, the header included.

    ``delimiter`` is as returned by ``find_delimiter``.
    """
    if delimiter == JSON_LINES:
        return json_records(lines(text))
    if delimiter != "\t" or ('"' in text and (quotes_header(text) or _is_uneven(text) or _quotes_tabs(text))):
        found = records(lines(text), delimiter)
    else:
        found = tab_rows(text)
    return ((line, fields) for line, fields in found if any(field.strip() for field in fields))


def tab_rows(text: str) -> Iterator[Record]:
    """Yield the line number and the fields of every tab-separated row, blank rows included.

    Quotation marks are kept as text, except around fields with doubled quotation marks.
    """
    for line, row in enumerate(lines(text), start=1):
        yield line, [unquote(field) for field in row.rstrip("\n").split("\t")]


def quotes_header(text: str) -> bool:
    """Return True if the first row has tab-separated fields that are all in quotation marks.

    >>> quotes_header('"text"\\t"label"\\n'), quotes_header('"Go"\\tyes\\n')
    (True, False)
    """
    first = next((line for line in lines(text) if line.strip()), "")
    fields = [field.strip() for field in first.split("\t")]
    return all(len(field) > 1 and field[0] == field[-1] == '"' for field in fields)


def _is_uneven(text: str) -> bool:
    """Return True if the lines of a text differ in their number of tabs."""
    return len({line.count("\t") for line in lines(text) if line.strip()}) > 1


def _quotes_tabs(text: str) -> bool:
    """Return True if each line is a row in which quoted fields contain tabs.

    >>> _quotes_tabs('"a\\tb"\\t1\\n"c\\td"\\t0\\n'), _quotes_tabs('"a\\tb\\t1\\nc\\td"\\t0\\n')
    (True, False)
    """
    sample = [line for line in islice(lines(text), SAMPLE) if line.strip()]
    try:
        widths = {len(fields) for line in sample for _, fields in records([line], "\t")}
    except UserError:
        return False
    return len(widths) == 1 and widths != {sample[0].count("\t") + 1}


def unquote(field: str) -> str:
    """Remove the quotation marks of a field that contains doubled quotation marks.

    Other fields are returned unchanged.

    >>> unquote('"He said ""go""."'), unquote('"Go"')
    ('He said "go".', '"Go"')
    """
    inner = field[1:-1]
    whole = field.startswith('"') and field.endswith('"') and '""' in inner and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if whole else field


def records(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of every CSV row, blank rows included.

    Raise UserError with the line of an error.

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
        raise UserError(
            gettext_lazy(
                "Line {line} is not CSV: a quotation mark or separator is misplaced, or a cell is too long.", line=line
            )
        ) from error


def json_records(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield JSON objects as table rows with line numbers; the first row has the keys of the first object.

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
            raise UserError(
                gettext_lazy(
                    "Line {line} is not a JSON object, such as {example}.",
                    line=line,
                    example='{"text": "…", "label": "…"}',
                )
            )
        if not names:
            names = list(found)
            yield line, names
        yield line, [_cell(found.get(name)) for name in names]


def _cell(value: object) -> str:
    """Return a JSON value as a table field."""
    if isinstance(value, str):
        return value
    return "" if value is None or value != value else json.dumps(value, ensure_ascii=False)


def is_json(text: str) -> bool:
    """Return True if the whole text is a JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
