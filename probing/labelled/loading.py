"""Loading of a user's files as a labelled dataset, with checks; missing dev and test splits are taken from train."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from i18n import gettext_lazy
from inference.errors import UserError
from probing.labelled import columns, conll
from probing.labelled.columns import Columns
from probing.labelled.conll import WordColumns, bio_tags
from probing.labelled.files import File, name_file_in_errors, split
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, ParsedRows, Row, Wanted
from probing.text_files import guess_message

NUMBER = re.compile(r"[+-]?[0-9]{1,9}(\.[0-9]{0,9})?")
PARTS = ("train", "dev", "test")
ANY, ANY_WORDS = Columns(), WordColumns()  # columns to be detected


@dataclass(frozen=True)
class ReadResult:
    """A labelled dataset, the columns of its train file, and messages about guesses made while reading."""

    labels: LabeledDataset
    columns: tuple[str, ...]  # names or numbers from 1, as the caller may request them
    notes: tuple[str, ...]


@dataclass(frozen=True)
class TaskFiles:
    """The files of a task; rows for a split without a file are taken from train."""

    train: File
    dev: File | None = None
    test: File | None = None

    def by_split(self) -> dict[str, File]:
        """Return the files by split, train first."""
        return {part: file for part in PARTS if (file := getattr(self, part)) is not None}


def read_labeled(files: TaskFiles, wanted: Columns = ANY, *, classes: File | None = None, seed: int = 0) -> ReadResult:
    """Load texts with classes from CSV, TSV, JSON Lines or Parquet; may raise UserError.

    ``wanted`` are the columns to read, detected by default. ``classes`` is a file with the names of numeric labels.
    ``seed`` determines the rows of train that become a missing dev or test split.

    >>> rows = "".join(f"{at} is {'odd' if at % 2 else 'even'}.,{at % 2}\\n" for at in range(40))
    >>> labels = read_labeled(TaskFiles(File("mine.csv", b"text,label\\n" + rows.encode()))).labels
    >>> labels.labels, len(labels.train), len(labels.dev), len(labels.test)
    (('0', '1'), 32, 4, 4)
    """
    names: Sequence[str] = ()
    if classes is not None:
        with name_file_in_errors(classes):
            names = columns.class_list(classes.text()[0])
    parsed, told = _parse_files(files, wanted, lambda text, like: columns.parse(text, like, names))
    with name_file_in_errors(files.train):
        _check_classes(parsed["train"])
    first = parsed["train"].first
    labels = tuple(name for name in names if name in first) or tuple(sorted(first, key=_by_number))
    rows, divided = _parts(files, parsed, seed)
    return ReadResult(
        LabeledDataset("classify", labels, **rows), parsed["train"].names, (*told, *_equal_numbers(labels), *divided)
    )


def read_tagged(files: TaskFiles, wanted: WordColumns = ANY_WORDS, *, seed: int = 0) -> ReadResult:
    """Load texts with tagged words from CoNLL columns, tables or JSON Lines; may raise UserError.

    ``wanted`` are the columns to read, detected by default. ``seed`` determines the rows of train that become a missing
    dev or test split.

    >>> lines = "".join(f"Ann B-PER\\nhas O\\n{at} O\\n\\n" for at in range(40))
    >>> labels = read_tagged(TaskFiles(File("mine.conll", lines.encode()))).labels
    >>> labels.labels, len(labels.train), len(labels.dev), len(labels.test)
    (('O', 'B-PER', 'I-PER'), 32, 4, 4)
    """
    parsed, told = _parse_files(files, wanted, conll.parse)
    first = parsed["train"].first
    if not first:
        raise UserError(
            gettext_lazy(
                "{name}: every tag is O. Add sentences with spans.",
                name=files.train.name,
            )
        )
    rows, divided = _parts(files, parsed, seed)
    return ReadResult(LabeledDataset("tag", bio_tags(first), **rows), parsed["train"].names, (*told, *divided))


def _parse_files(
    files: TaskFiles, wanted: Wanted, parse: Callable[[str, Wanted], ParsedRows[Row, Wanted]]
) -> tuple[dict[str, ParsedRows[Row, Wanted]], list[str]]:
    """Parse the file of each split with the columns of train; return the rows and the messages."""
    parsed: dict[str, ParsedRows[Row, Wanted]] = {}
    told: list[str] = []
    for part, file in files.by_split().items():
        with name_file_in_errors(file):
            text, controls, guessed = file.read(words=isinstance(wanted, WordColumns))
            parsed[part] = parse(text, parsed["train"].columns if parsed else wanted)
        told += [gettext_lazy("{name}: {text}", name=file.name, text=said) for said in parsed[part].notes]
        if guessed:
            told.append(guess_message(file.name, guessed))
        if controls:
            told.append(
                gettext_lazy(
                    "{name}: {controls:,} control characters were left out.",
                    name=file.name,
                    controls=controls,
                )
            )
    return parsed, told


def _check_classes(parsed: ParsedRows[LabeledText, Columns]) -> None:
    """Raise UserError unless there are at least two classes, with at least two rows each."""
    counts = Counter(row.label for row in parsed.rows)
    if len(counts) < 2:
        label, count = next(iter(counts.items()))
        raise UserError(
            gettext_lazy(
                "All {count:,} rows have the label “{label}”. Add another class, or name the label column.",
                count=count,
                label=label[:40],
            )
        )
    alone = next((label for label, count in counts.items() if count == 1), None)
    if alone is not None:
        line = parsed.first[alone]
        add = (
            gettext_lazy("If it is a header, name the columns of texts and labels; else add")
            if line == 1
            else gettext_lazy("Add")
        )
        raise UserError(
            gettext_lazy(
                "Only line {line} has the label “{label}”; expected two rows or more. {add} rows, or leave it out.",
                line=line,
                label=alone[:40],
                add=add,
            )
        )


def _equal_numbers(labels: Sequence[str]) -> list[str]:
    """Return a message for each set of classes that are the same number, such as 1, 1.0 and 01."""
    numbers: dict[float, list[str]] = {}
    for label in labels:
        if NUMBER.fullmatch(label):
            numbers.setdefault(float(label), []).append(label)
    return [
        gettext_lazy(
            "The labels {labels} are the same number, but count as {many} classes.",
            labels=", ".join(f"“{label}”" for label in same),
            many=len(same),
        )
        for same in numbers.values()
        if len(same) > 1
    ]


def _by_number(label: str) -> tuple[bool, int, str]:
    """Return a sort key that orders numbers by value, before names."""
    number = label.isascii() and label.isdigit() and len(label) < 10
    return (not number, int(label) if number else 0, label)


def _parts(
    files: TaskFiles, parsed: Mapping[str, ParsedRows[Row, Wanted]], seed: int
) -> tuple[dict[str, list[Row]], tuple[str, ...]]:
    """Return the rows of all splits, with missing splits taken from train, and a message about it."""
    name, rows = files.train.name, {part: found.rows for part, found in parsed.items()}
    for part, file in files.by_split().items():
        _check_known(parsed[part], file.name, parsed["train"], name)
    wanting = [part for part in PARTS if part not in rows]
    if not wanting:
        return rows, ()
    rows |= split(rows["train"], seed, wanting)
    empty = next((part for part in PARTS if not rows[part]), None)
    if empty:
        raise UserError(
            gettext_lazy(
                "{name}: {rows} different rows are too few for {part}. Add rows, or give {part} as a file.",
                name=name,
                rows=len(parsed["train"].rows),
                part=empty,
            )
        )
    sizes = ", ".join(f"{len(rows[part]):,} {part}" for part in PARTS)
    return rows, (
        gettext_lazy("{name} was split here with seed {seed}. Rows: {sizes}.", name=name, seed=seed, sizes=sizes),
    )


def _check_known(parsed: ParsedRows[Row, Wanted], name: str, train: ParsedRows[Row, Wanted], train_name: str) -> None:
    """Raise UserError if a split has a label that train lacks."""
    lacking = next((label for label in parsed.first if label not in train.first), None)
    if lacking is not None:
        raise UserError(
            gettext_lazy(
                "{name}: line {line} has the label “{label}”, which {train} lacks. Add rows there, or "
                "leave it out here.",
                name=name,
                line=parsed.first[lacking],
                label=lacking[:40],
                train=train_name,
            )
        )
