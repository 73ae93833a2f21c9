"""What a command names made into labelled texts: a file, or a ready set."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeVar

from inference.errors import Refusal
from probing.labelled.rows import OUTSIDE, Classified, Kind, Labels, Tagged

Row = TypeVar("Row", Classified, Tagged)


@dataclass(frozen=True)
class Task:
    """Labelled texts, with what a model card has to say about them."""

    labels: Labels
    name: str
    licence: str = "not stated"
    attribution: str = "files of whoever trained it"


def task(kind: Kind, train: str, dev: Path | None, test: Path | None, seed: int) -> Task:
    """The texts that the command names; what is not given is parted from the training file by the seed."""
    files = [None if file is None else Path(file) for file in (train, dev, test)]
    labels = _labels(kind, files, seed, _classified) if kind == "classify" else _labels(kind, files, seed, _tagged)
    return Task(labels, Path(train).name)


def _labels(kind: Kind, files: Sequence[Path | None], seed: int, read: Callable[[Path], Iterator[Row]]) -> Labels:
    rows = [[] if file is None else _rows(file, read) for file in files]
    train = list(rows[0])
    Random(seed).shuffle(train)
    tenth = max(1, len(train) // 10)
    for part in (1, 2):
        if files[part] is None:
            rows[part], train = train[:tenth], train[tenth:]
    if kind == "classify":
        names = tuple(sorted({row.label for row in train if isinstance(row, Classified)}))
    else:
        names = (OUTSIDE, *sorted({tag for row in train if isinstance(row, Tagged) for tag in row.tags} - {OUTSIDE}))
    unknown = {label for some in rows[1:] for row in some for label in _said(row)} - set(names)
    if unknown:
        raise Refusal(f"No training row has the label {min(unknown)}, so it cannot be learned. Leave its rows out.")
    return Labels(kind, names, train, rows[1], rows[2])


def _said(row: Classified | Tagged) -> tuple[str, ...]:
    return (row.label,) if isinstance(row, Classified) else row.tags


def _rows(file: Path, read: Callable[[Path], Iterator[Row]]) -> list[Row]:
    try:
        return list(read(file))
    except (OSError, ValueError) as error:
        raise Refusal(f"{file.name} cannot be read as labelled texts in UTF-8.") from error


def _classified(file: Path) -> Iterator[Classified]:
    with file.open(encoding="utf-8-sig", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t" if file.suffix == ".tsv" else ",")
        if not {"text", "label"} <= set(rows.fieldnames or ()):
            raise Refusal(f"{file.name} has no columns text and label. Name them so in its first line.")
        yield from (Classified(row["text"], row["label"]) for row in rows if row["text"] and row["label"])


def _tagged(file: Path) -> Iterator[Tagged]:
    words: list[tuple[str, str]] = []
    for line in [*file.read_text(encoding="utf-8-sig").splitlines(), ""]:
        columns = line.split()
        if len(columns) > 1:
            words.append((columns[0], columns[-1]))
        elif words:
            yield _side_by_side(words)
            words = []


def _side_by_side(words: Sequence[tuple[str, str]]) -> Tagged:
    """A text of these words with spaces between them."""
    places, at = [], 0
    for word, _ in words:
        places.append((at, at + len(word)))
        at += len(word) + 1
    return Tagged(" ".join(word for word, _ in words), tuple(places), tuple(tag for _, tag in words))
