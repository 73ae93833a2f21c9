"""Toy tasks that can be learned whole, tiny models that learn them, and the settings that take a second."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inference.settings import Settings as Machine
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText
from tests.support import tinymodels
from training.finetune.data import LabeledTask
from training.finetune.settings import FinetuneSettings

# Words of one letter, which every tiny tokenizer has a piece for, among numbers that say nothing.
ANIMALS, PLANTS, STARS = ("c", "d", "h", "f"), ("o", "e", "i", "v"), ("s", "u", "r", "y")
NAMES = ("a", "b", "m", "t")
SAID = ("1 2 3", "4 5", "6 7 8 9", "1 4", "3 5 7")

FAST = FinetuneSettings(minutes=None, steps=12, length=24, rate=3e-3, batch=4, precision="fp32", filmed=False)


def classified(names: Sequence[str] = ("animal", "plant", "star")) -> LabeledDataset:
    """Texts with one telling word each, said thrice, 4 words a class: 60 rows, 24 of them dev or test, in halves."""
    rows = [
        LabeledText(f"{word} {word} {said} {word}", names[kind])
        for said in SAID
        for kind, words in enumerate((ANIMALS, PLANTS, STARS))
        for word in words
    ]
    return LabeledDataset("classify", tuple(names), rows[24:], rows[:12], rows[12:24])


def tagged() -> LabeledDataset:
    """Texts in which first and last names are to be found: 60 rows, 12 of them dev, 12 test."""
    rows = []
    for said in SAID:
        for first in NAMES:
            for word in ANIMALS[:3]:
                words = (*said.split(), word, "1", first, "z")
                tags = ("O",) * (len(words) - 2) + ("B-PER", "I-PER")
                rows.append(TaggedText(" ".join(words), spaced(words), tags))
    return LabeledDataset("tag", ("O", "B-PER", "I-PER"), rows[24:], rows[:12], rows[12:24])


def spaced(words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Where words stand in the text that has one space between each two."""
    starts = [sum(len(word) + 1 for word in words[:at]) for at in range(len(words))]
    return tuple((start, start + len(word)) for start, word in zip(starts, words, strict=True))


def task(labels: LabeledDataset) -> LabeledTask:
    """The same with what a card says of it."""
    return LabeledTask(labels, "toys", "CC0", "nobody")


def machine(folder: Path, kind: str = "bert", **changes: object) -> tuple[str, Machine]:
    """A tiny model's name, and the settings of a machine that may open it."""
    where = tinymodels.save(folder / kind, kind, **changes)
    return str(where), Machine(model_folders=(folder,), offline=True, threads=1)
