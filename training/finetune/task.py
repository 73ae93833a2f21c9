"""What a command names made into labelled texts: a ready set by its name, or files of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inference.errors import Refusal
from probing.labelled import cards
from probing.labelled.files import File
from probing.labelled.reading import Files, classified, tagged
from probing.labelled.rows import Kind, Labels


@dataclass(frozen=True)
class Task:
    """Labelled texts, with what a model card has to say about them, and what was found while they were read."""

    labels: Labels
    name: str
    licence: str = "not stated"
    attribution: str = "whoever brought the file"
    told: tuple[str, ...] = ()
    called: str = ""  # what the taught model is called on its card; "" is the name of its folder


def task(kind: Kind, train: str, dev: Path | None, test: Path | None, seed: int) -> Task:
    """The texts that a command names; parts that are not given are divided from ``train`` by the seed. Raises Refusal.

    A name with a file behind it is that file, any other is a ready set's.
    """
    if train in cards.BY_ID and not Path(train).exists():
        return _ready(kind, train, dev, test)
    others = (None if path is None else File.opened(path) for path in (dev, test))
    files = Files(File.opened(Path(train)), *others)
    read = classified(files, seed=seed) if kind == "classify" else tagged(files, seed=seed)
    return Task(read.labels, files.train.name, told=read.told)


def _ready(kind: Kind, name: str, dev: Path | None, test: Path | None) -> Task:
    card = cards.BY_ID[name]
    if card.kind != kind:
        raise Refusal(f"{name} is a set to {card.kind}. Write: python -m training {card.kind} {name}")
    if dev is not None or test is not None:
        raise Refusal(f"{name} has its own dev and test rows. Leave out --dev and --test.")
    return Task(cards.load(name), card.title, card.licence, f"{card.attribution} {card.citation}")
