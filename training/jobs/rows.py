"""A visitor's labelled texts as an xz-compressed file of JSON lines: the labels first, then the rows.

JSON lines preserve line breaks, tabs and lone surrogates; the shorter format of the ready-made data sets cannot.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError
from probing.labelled.files import MOST_ROWS
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText

PARTS = ("train", "dev", "test")
BROKEN = gettext_lazy("The rows of this training cannot be read. Remove it, and bring them again.")


def write(labels: LabeledDataset, file: Path) -> None:
    """Write labelled texts to a file; raise UserError if there are more rows than a training reads."""
    many = sum(len(getattr(labels, part)) for part in PARTS)
    if many > MOST_ROWS:
        raise UserError(
            gettext_lazy(
                "There are {many:,} rows; at most {most:,} are learned from. Bring a part of them.",
                many=many,
                most=MOST_ROWS,
            )
        )
    with lzma.open(file, "wt", preset=1, encoding="utf-8", newline="\n") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in _lines(labels))


def read(file: Path) -> LabeledDataset:
    """Read labelled texts from a file; raise UserError if it is malformed."""
    try:
        with lzma.open(file, "rt", encoding="utf-8", newline="\n") as stream:
            head = json.loads(stream.readline())
            make = {"classify": _parse_labeled, "tag": _parse_tagged}[head["kind"]]
            if sum(head["rows"]) > MOST_ROWS:
                raise ValueError("too many rows")
            parts: Any = [[make(json.loads(stream.readline())) for _ in range(many)] for many in head["rows"]]
        return LabeledDataset(head["kind"], tuple(map(str, head["labels"])), *parts)
    except (OSError, EOFError, ValueError, LookupError, TypeError, RecursionError, lzma.LZMAError) as error:
        raise UserError(BROKEN) from error


def _lines(labels: LabeledDataset) -> Iterator[Any]:
    rows = [getattr(labels, part) for part in PARTS]
    yield {"kind": labels.kind, "labels": labels.labels, "rows": [len(part) for part in rows]}
    for part in rows:
        for row in part:
            yield [row.text, row.label] if isinstance(row, LabeledText) else [row.text, row.words, row.tags]


def _parse_labeled(line: Any) -> LabeledText:
    text, label = line
    return LabeledText(str(text), str(label))


def _parse_tagged(line: Any) -> TaggedText:
    text, words, tags = line
    return TaggedText(str(text), tuple((int(start), int(end)) for start, end in words), tuple(map(str, tags)))
