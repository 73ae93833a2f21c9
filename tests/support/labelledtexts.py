"""Toy tasks that tiny models can learn fully, and settings that train them in a second."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inference.settings import Settings as Machine
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText
from tests.support import tinymodels
from training.finetune.data import LabeledTask
from training.finetune.settings import FinetuneSettings

# The words are single letters, which every tiny tokenizer contains, among uninformative numbers.
ANIMALS, PLANTS, STARS = ("c", "d", "h", "f"), ("o", "e", "i", "v"), ("s", "u", "r", "y")
NAMES = ("a", "b", "m", "t")
SAID = ("1 2 3", "4 5", "6 7 8 9", "1 4", "3 5 7")

FAST = FinetuneSettings(minutes=None, steps=12, length=24, rate=3e-3, batch=4, precision="fp32", filmed=False)


def classified(names: Sequence[str] = ("animal", "plant", "star")) -> LabeledDataset:
    """Return texts with an informative word that occurs three times, 4 words per class.

    With three classes the data set has 60 rows: 36 for training, 12 for dev and 12 for test.
    """
    rows = [
        LabeledText(f"{word} {word} {said} {word}", names[kind])
        for said in SAID
        for kind, words in enumerate((ANIMALS, PLANTS, STARS))
        for word in words
    ]
    return LabeledDataset("classify", tuple(names), rows[24:], rows[:12], rows[12:24])


def tagged() -> LabeledDataset:
    """Return texts with first and last names to tag: 60 rows, of which 12 are dev and 12 are test rows."""
    rows = []
    for said in SAID:
        for first in NAMES:
            for word in ANIMALS[:3]:
                words = (*said.split(), word, "1", first, "z")
                tags = ("O",) * (len(words) - 2) + ("B-PER", "I-PER")
                rows.append(TaggedText(" ".join(words), spaced(words), tags))
    return LabeledDataset("tag", ("O", "B-PER", "I-PER"), rows[24:], rows[:12], rows[12:24])


def spaced(words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the (start, end) positions of words in a text that joins them with spaces."""
    starts = [sum(len(word) + 1 for word in words[:at]) for at in range(len(words))]
    return tuple((start, start + len(word)) for start, word in zip(starts, words, strict=True))


def task(labels: LabeledDataset) -> LabeledTask:
    """Add the facts for a model card to a data set."""
    return LabeledTask(labels, "toys", "CC0", "nobody")


def machine(folder: Path, kind: str = "bert", **changes: object) -> tuple[str, Machine]:
    """Save a tiny model; return its name and the settings of a machine that may open it."""
    where = tinymodels.save(folder / kind, kind, **changes)
    return str(where), Machine(model_folders=(folder,), offline=True, threads=1)
