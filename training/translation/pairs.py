"""Sentence pairs from a file, and which of them are held out: by their source, so that no source is on both sides."""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from inference.errors import UserError
from training.documents import held_out
from training.translation.sentences import clean, key

Pair = tuple[str, str]  # source, target


@dataclass(frozen=True)
class HeldOut:
    """A source sentence that is never trained on, with every translation of it that the file has."""

    source: str
    references: tuple[str, ...]


def pairs(file: Path) -> Iterator[Pair]:
    """Every pair of a .tsv or .tsv.xz file, cleaned; further columns are not read. Raises Refusal."""
    if not file.is_file() or not file.name.endswith((".tsv", ".tsv.xz")):
        raise UserError(f"There are no pairs at {file}. Name a .tsv or .tsv.xz file: source, tab, target.")
    for number, line in enumerate(_lines(file), start=1):
        columns = [clean(column) for column in line.rstrip("\n").split("\t")]
        if len(columns) < 2 or not all(columns[:2]):
            raise UserError(f"Line {number} of {file.name} does not hold a source, a tab and a target.")
        yield columns[0], columns[1]


def _lines(file: Path) -> Iterator[str]:
    unpacked = lzma.open if file.suffix == ".xz" else open
    try:
        with unpacked(file, "rt", encoding="utf-8") as stream:
            yield from stream
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise UserError(f"{file.name} cannot be read as UTF-8 text: {error}. Fetch or save it again.") from error


def split(given: Iterable[Pair], share: float) -> tuple[list[Pair], list[HeldOut]]:
    """Pairs to train on, and sources kept for evaluation, each in the file's order without repetitions.

    What decides is the source without case and punctuation: sentences that differ in nothing else stay together.

    >>> train, held = split([("Hi.", "Salut."), ("Hi!", "Salut !"), ("Hi!", "Bonjour !")], share=1.0)
    >>> [(pair.source, len(pair.references)) for pair in held], train
    ([('Hi.', 1), ('Hi!', 2)], [])
    """
    train: list[Pair] = []
    kept: dict[str, list[str]] = {}
    for source, target in dict.fromkeys(given):
        if held_out(key(source), share):
            kept.setdefault(source, []).append(target)
        else:
            train.append((source, target))
    return train, [HeldOut(source, tuple(references)) for source, references in kept.items()]
