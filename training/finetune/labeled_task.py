"""What a command names made into labelled texts: a ready set by its name, or files of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inference.errors import UserError
from probing.labelled import cards
from probing.labelled.columns import Columns
from probing.labelled.conll import WordColumns
from probing.labelled.files import File
from probing.labelled.labeled_texts import Kind, LabeledDataset
from probing.labelled.loading import ANY, TaskFiles, read_labeled, read_tagged


@dataclass(frozen=True)
class LabeledTask:
    """Labelled texts, with what a model card has to say about them, and what was found while they were read."""

    labels: LabeledDataset
    name: str
    licence: str = "not stated"
    attribution: str = "whoever brought the file"
    notes: tuple[str, ...] = ()
    called: str = ""  # what the taught model is called on its card; "" is the name of its folder


def task(  # noqa: PLR0913  # the parts, and how to read them
    kind: Kind,
    train: str,
    dev: Path | None,
    test: Path | None,
    seed: int,
    columns: Columns = ANY,
    encoding: str = "",
) -> LabeledTask:
    """The texts that a command names; parts that are not given are divided from ``train`` by the seed. Raises Refusal.

    A name with a file behind it is that file, any other is a ready set's.
    """
    if train in cards.BY_ID and not Path(train).exists():
        return _load_ready_task(kind, train, dev, test)
    others = (None if path is None else File.from_path(path, encoding) for path in (dev, test))
    files = TaskFiles(File.from_path(Path(train), encoding), *others)
    if kind == "classify":
        read = read_labeled(files, columns, seed=seed)
    else:
        read = read_tagged(files, WordColumns(_number(columns.text), _number(columns.label)), seed=seed)
    return LabeledTask(read.labels, files.train.name, notes=read.notes)


def _load_ready_task(kind: Kind, name: str, dev: Path | None, test: Path | None) -> LabeledTask:
    card = cards.BY_ID[name]
    if card.kind != kind:
        raise UserError(f"{name} is a set to {card.kind}. Write: python -m training {card.kind} {name}")
    if dev is not None or test is not None:
        raise UserError(f"{name} has its own dev and test rows. Leave out --dev and --test.")
    return LabeledTask(cards.load(name), card.title, card.licence, f"{card.attribution} {card.citation}")


def _number(column: str | None) -> int | None:
    """Return the number of a column of words or tags, which have no names; raise Refusal for anything else."""
    if column is None:
        return None
    if not (column.isascii() and column.isdigit() and len(column) < 6):
        raise UserError(f"Columns of words have no names: expected a number from 1, got {column[:40]}.")
    return int(column)
