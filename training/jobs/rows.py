"""A visitor's labelled texts as one packed file: a line of JSON for the labels, then one for each row.

Lines of JSON hold line ends, tabs and lone surrogates alike, which the shorter form of the ready sets cannot.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inference.errors import Refusal
from probing.labelled.files import MOST_ROWS
from probing.labelled.rows import Classified, Labels, Tagged
from wording import sentence

PARTS = ("train", "dev", "test")
BROKEN = sentence("The rows of this training cannot be read. Remove it, and bring them again.")


def write(labels: Labels, file: Path) -> None:
    """Packs them; raises Refusal for more rows than a training reads."""
    many = sum(len(getattr(labels, part)) for part in PARTS)
    if many > MOST_ROWS:
        raise Refusal(
            sentence(
                "There are {many:,} rows; at most {most:,} are learned from. Bring a part of them.",
                many=many,
                most=MOST_ROWS,
            )
        )
    with lzma.open(file, "wt", preset=1, encoding="utf-8", newline="\n") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in _lines(labels))


def read(file: Path) -> Labels:
    """The same again; raises Refusal for a file that is no such one."""
    try:
        with lzma.open(file, "rt", encoding="utf-8", newline="\n") as stream:
            head = json.loads(stream.readline())
            make = {"classify": _classified, "tag": _tagged}[head["kind"]]
            if sum(head["rows"]) > MOST_ROWS:
                raise ValueError("too many rows")
            parts: Any = [[make(json.loads(stream.readline())) for _ in range(many)] for many in head["rows"]]
        return Labels(head["kind"], tuple(map(str, head["labels"])), *parts)
    except (OSError, EOFError, ValueError, LookupError, TypeError, RecursionError, lzma.LZMAError) as error:
        raise Refusal(BROKEN) from error


def _lines(labels: Labels) -> Iterator[Any]:
    rows = [getattr(labels, part) for part in PARTS]
    yield {"kind": labels.kind, "labels": labels.labels, "rows": [len(part) for part in rows]}
    for part in rows:
        for row in part:
            yield [row.text, row.label] if isinstance(row, Classified) else [row.text, row.words, row.tags]


def _classified(line: Any) -> Classified:
    text, label = line
    return Classified(str(text), str(label))


def _tagged(line: Any) -> Tagged:
    text, words, tags = line
    return Tagged(str(text), tuple((int(start), int(end)) for start, end in words), tuple(map(str, tags)))
