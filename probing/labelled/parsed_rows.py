"""What a format's parser finds in one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from probing.labelled.labeled_texts import LabeledText, TaggedText

Row = TypeVar("Row", LabeledText, TaggedText)
Wanted = TypeVar("Wanted")


@dataclass(frozen=True)
class ParsedRows(Generic[Row, Wanted]):
    """Its rows, the line that each class or kind of span came first on, and what was found, a sentence each.

    ``columns`` are those that were read, by which further files are read, too; ``names`` are all that could be.
    """

    rows: list[Row]
    first: dict[str, int]
    columns: Wanted
    names: tuple[str, ...]
    notes: tuple[str, ...]
