"""Parsing of tables of texts and classes; columns are found by name or content, or as the user requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from i18n import gettext_lazy
from inference.errors import UserError
from probing.delimited import (
    JSON_LINES,
    SAMPLE,
    Record,
    find_delimiter,
    fit_row,
    lines,
    refuse_same_names,
    table_records,
)
from probing.labelled.files import check_length, check_rows
from probing.labelled.labeled_texts import LabeledText, ParsedRows

TEXTS = ("text", "sentence", "texts", "sentences", "review", "content", "title", "headline", "utterance", "query",
         "comment", "message", "tweet", "文本", "句子", "内容", "标题", "评论", "text_a")  # fmt: skip
LABELS = ("label", "labels", "class", "category", "intent", "sentiment", "topic", "polarity", "target", "y", "tag",
          "标签", "类别", "分类", "情感")  # fmt: skip
DELIMITERS = {
    "\t": gettext_lazy("tabs"),
    ",": gettext_lazy("commas"),
    ";": gettext_lazy("semicolons"),
    "|": gettext_lazy("vertical bars"),
}
MOST_CLASSES = 200


@dataclass(frozen=True)
class Columns:
    """The column of the texts and the column of the labels: a name, a number from 1, or None to detect it."""

    text: str | None = None
    label: str | None = None


def parse(text: str, wanted: Columns, classes: Sequence[str] = ()) -> ParsedRows[LabeledText, Columns]:
    """Parse the rows of a table of texts and classes; raise UserError with a one-sentence message.

    ``wanted`` are the requested columns. ``classes`` are the names of the classes if the table has class numbers, which
    count from 0.

    >>> parse("sports\\tThey won.\\nnews\\tIt rained.\\n", Columns()).rows[1]
    LabeledText(text='It rained.', label='news')
    """
    delimiter = find_delimiter(text)
    sample = list(islice(table_records(text, delimiter), SAMPLE))
    if not sample:
        raise UserError(gettext_lazy("The file is empty. Each row needs a text and a label."))
    widths = [len(fields) for _, fields in sample]
    if set(widths) == {1}:
        raise UserError(gettext_lazy("The file has one column. Separate text and label by a tab or comma."))
    if widths[0] == 1:
        raise UserError(
            gettext_lazy(
                "Line {line} has one column; line {next} has {columns}. Remove line {line} if it is not a header.",
                line=sample[0][0],
                next=next(line for line, fields in sample if len(fields) > 1),
                columns=max(widths),
            )
        )
    header = sample[0][1] if delimiter == JSON_LINES else _header(sample, wanted)
    at = _find_columns(sample[1:] if header else sample, header, len(sample[0][1]), wanted)
    if header is None and wanted == Columns() and _names_only(sample, at):
        header = [name.strip() or str(number) for number, name in enumerate(sample[0][1], start=1)]
        at = _find_columns(sample[1:], header, len(header), wanted)
    low = [name.lower() for name in header or ()]
    found = [low[column] for column, asked in zip(at, (wanted.text, wanted.label), strict=True)
             if header and not (asked or "").isdigit()]  # fmt: skip
    refuse_same_names(low, found)
    rows: list[LabeledText] = []
    first: dict[str, int] = {}
    labels: dict[str, str] = {}  # maps each raw label to its class
    for line, fields in islice(table_records(text, delimiter), 1 if header else 0, None):
        fields = fit_row(fields, line, len(sample[0][1]), sample[0][0])
        check_rows(len(rows), line)
        said, label = _pair(fields, at, line)
        if label not in labels:
            labels[label] = _class(label, line, classes)
            first.setdefault(labels[label], line)
            if len(first) > MOST_CLASSES:
                raise UserError(
                    gettext_lazy(
                        "Column {column} has over {most} labels, from line {line} on. Name the label column, or use "
                        "fewer.",
                        column=at[1] + 1,
                        most=MOST_CLASSES,
                        line=line,
                    )
                )
        rows.append(LabeledText(said, labels[label]))
    if not rows:
        raise UserError(gettext_lazy("The file has only a header. Add rows."))
    names = tuple(header or map(str, range(1, len(sample[0][1]) + 1)))
    text_name, label_name = (f"“{names[column]}”" if header else names[column] for column in at)
    told = (
        gettext_lazy("JSON Lines; texts are in {texts}, labels in {labels}.", texts=text_name, labels=label_name)
        if delimiter == JSON_LINES
        else gettext_lazy(
            "Columns are separated by {delimiter}; texts are in column {texts}, labels in {labels}.",
            delimiter=DELIMITERS[delimiter],
            texts=text_name,
            labels=label_name,
        )
    )
    again = (names[column] if low.count(names[column].lower()) == 1 else str(column + 1) for column in at)
    return ParsedRows(rows, first, Columns(*again), names, (told,))


def first_row(text: str) -> tuple[str, ...]:
    """Return the fields of the first row, which are the column names if there is a header.

    >>> first_row("note;said\\n1;yes\\n")
    ('note', 'said')
    """
    return next(
        (tuple(field.strip() for field in fields) for _, fields in table_records(text, find_delimiter(text))), ()
    )


def class_list(text: str) -> list[str]:
    """Parse a list of class names, one per line, numbered from 0; may raise UserError.

    >>> class_list("finance\\nsports\\n")
    ['finance', 'sports']
    """
    names = [name for line in lines(text) if (name := line.strip())]
    twice = next((name for name, many in Counter(names).items() if many > 1), None)
    if twice or not 2 <= len(names) <= MOST_CLASSES:
        what = (
            gettext_lazy("“{name}” twice", name=twice[:40])
            if twice
            else gettext_lazy("{lines:,} lines", lines=len(names))
        )
        raise UserError(
            gettext_lazy(
                "The list of classes has {what}; expected 2 to {most} different names, one per line.",
                what=what,
                most=MOST_CLASSES,
            )
        )
    return names


def _pair(fields: Sequence[str], at: tuple[int, int], line: int) -> tuple[str, str]:
    """Return the text and the label of a row; raise UserError if a field is empty or the text too long."""
    text, label = (fields[column].strip() for column in at)
    for name, field in ((gettext_lazy("text"), text), (gettext_lazy("label"), label)):
        if not field:
            raise UserError(gettext_lazy("Line {line} has no {which}. Add it.", line=line, which=name))
    return check_length(text, line), label


def _class(written: str, line: int, classes: Sequence[str]) -> str:
    """Return the class of a raw label: the label itself, or the name with that number."""
    if not classes or written in classes:
        return written
    number = written.removesuffix(".0")
    if not (number.isascii() and number.isdigit() and len(number) < 6 and int(number) < len(classes)):
        raise UserError(
            gettext_lazy(
                "Line {line} has the label “{written}”; expected 0 to {last}, as there are {many} class names.",
                line=line,
                written=written[:40],
                last=len(classes) - 1,
                many=len(classes),
            )
        )
    return classes[int(number)]


def _header(sample: Sequence[Record], wanted: Columns) -> list[str] | None:
    """Return the column names; None if the first row contains data, such as "y" above other rows with "y"."""
    names = [name.strip() for name in sample[0][1]]
    low = [name.lower() for name in names]
    named = {name.lower() for name in (wanted.text, wanted.label) if name and not name.isdigit()}
    if {*TEXTS, *named} & set(low):
        return names
    labels = [column for column, name in enumerate(low) if name in LABELS]
    again = any(
        fields[column].strip() == names[column] for column in labels for _, fields in sample[1:] if column < len(fields)
    )
    return names if labels and not again else None


def _names_only(sample: Sequence[Record], at: tuple[int, int]) -> bool:
    """Return True if the first row looks like a header.

    Its text and its label must be identifiers, and no other row may have its label.
    """
    text, label = (sample[0][1][column].strip() for column in at)
    others = {fields[at[1]].strip() for _, fields in sample[1:] if at[1] < len(fields)}
    return text.isidentifier() and label.isidentifier() and len(others) > 1 and label not in others


def _find_columns(sample: Sequence[Record], header: list[str] | None, width: int, wanted: Columns) -> tuple[int, int]:
    """Return the indices of the columns of texts and labels; raise UserError if they cannot be determined."""
    names = [name.lower() for name in header or ()]
    text, label = (_column_number(name, header, width) if name else None for name in (wanted.text, wanted.label))
    if text is None:
        text = next((names.index(name) for name in TEXTS if name in names and names.index(name) != label), None)
    if label is None:
        label = next((names.index(name) for name in LABELS if name in names and names.index(name) != text), None)
    even = [fields for _, fields in sample if len(fields) == width]
    free = [column for column in range(width) if column not in (text, label)]
    kinds = {column: len({fields[column] for fields in even}) for column in free}
    sizes = {column: sum(len(fields[column]) for fields in even) for column in free}
    if text is None:  # of two columns the most varied; of more, which may number the rows, the longest
        text = max(free, key=lambda column: (kinds[column] if width == 2 else 0, sizes[column]), default=None)
        free = [column for column in free if column != text]
    if label is None:
        filled = [column for column in free if all(fields[column].strip() for fields in even)] or free
        few = [column for column in filled if len(free) == 1 or 2 <= kinds[column] <= MOST_CLASSES]
        label = min(few, key=lambda column: kinds[column], default=None)
    if text is None or label is None or text == label:
        raise UserError(
            gettext_lazy(
                "None of {width} columns looks like labels (2 to {most} values). Name the columns.",
                width=width,
                most=MOST_CLASSES,
            )
        )
    return text, label


def _column_number(name: str, header: list[str] | None, width: int) -> int:
    names = [known.lower() for known in header or ()]
    if name.strip().lower() in names:
        return names.index(name.strip().lower())
    if name.isascii() and name.isdigit() and len(name) < 6 and 1 <= int(name) <= width:
        return int(name) - 1
    there = (
        gettext_lazy("its columns are {header}", header=", ".join(header)[:200])
        if header
        else gettext_lazy("it has {width} columns, no header", width=width)
    )
    raise UserError(
        gettext_lazy(
            "The file has no column “{which}”; {there}. Give another name or a number.",
            which=name[:40],
            there=there,
        )
    )
