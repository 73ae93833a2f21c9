"""Labelled texts as values: one label for a text, or one tag for each of its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["classify", "tag"]
OUTSIDE = "O"


@dataclass(frozen=True)
class LabeledText:
    """A text and its class, as the file names it."""

    text: str
    label: str


@dataclass(frozen=True)
class TaggedText:
    """A text whose words have tags: BIO, so that "B-PER" begins a name and "I-PER" goes on with it.

    ``words`` are where each word stands in ``text``, (start, end) in characters, in order and apart; Chinese words
    stand side by side.
    """

    text: str
    words: tuple[tuple[int, int], ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class LabeledDataset:
    """A task's texts. ``labels`` are its classes or tags in the order of a model's outputs; tags begin with "O".

    What a model learns from, what its checkpoint is chosen on, and what it is told on once, at the end.
    """

    kind: Kind
    labels: tuple[str, ...]
    train: Sequence[LabeledText] | Sequence[TaggedText]
    dev: Sequence[LabeledText] | Sequence[TaggedText]
    test: Sequence[LabeledText] | Sequence[TaggedText]
