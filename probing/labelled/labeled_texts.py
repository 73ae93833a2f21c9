"""Labelled texts as values, what a parser returns, and how words of a script are joined."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

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


Place = tuple[int, int]  # where a word begins in a text, and where it has ended, in characters

# Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han, and Han beyond the first plane.
SIDE_BY_SIDE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]"
)
MOST_LOOKED_AT = 20_000  # characters


def uses_spaces(words: Iterable[str]) -> bool:
    """Whether the words of a file are written with spaces between them: unless half of their letters are of scripts
    that know none. Korean has spaces.

    >>> uses_spaces(["Ann", "sings"]), uses_spaces(["安", "唱歌", "OK"]), uses_spaces(["안", "노래"])
    (True, False, True)
    """
    letters = without = 0
    for word in words:
        letters += sum(map(str.isalpha, word))
        without += len(SIDE_BY_SIDE.findall(word))
        if letters > MOST_LOOKED_AT:
            break
    return 2 * without < max(letters, 1)


def join_words(words: Sequence[str], spaces: bool) -> tuple[str, list[Place]]:
    """A sentence of these words, and where each stands in it.

    >>> join_words(["Ann", "sings"], True)
    ('Ann sings', [(0, 3), (4, 9)])
    >>> join_words(["在", "San", "Juan", "唱歌"], False)
    ('在San Juan唱歌', [(0, 1), (1, 4), (5, 9), (9, 11)])
    """
    parts: list[str] = []
    places: list[Place] = []
    at = 0
    for number, word in enumerate(words):
        if number and (spaces or _needs_space(words[number - 1], word)):
            parts.append(" ")
            at += 1
        parts.append(word)
        places.append((at, at + len(word)))
        at += len(word)
    return "".join(parts), places


def _needs_space(left: str, right: str) -> bool:
    """Whether a space stands between two words of a text without spaces: those of another script, if they are words
    and not letters one by one."""
    edges = left[-1] + right[0]
    return len(left) + len(right) > 2 and edges.isalnum() and not SIDE_BY_SIDE.search(edges)


def locate_words(words: Sequence[str], text: str) -> list[Place] | None:
    """Where the words stand in a given text, only space between them; None where they do not make it up.

    >>> locate_words(["Ann", "'s", "dogs"], "Ann's dogs"), locate_words(["Ann"], "Anna")
    ([(0, 3), (3, 5), (6, 10)], None)
    """
    places, at = [], 0
    for word in words:
        start = text.find(word, at)
        if start < 0 or text[at:start].strip():
            return None
        at = start + len(word)
        places.append((start, at))
    return None if text[at:].strip() else places


def make_place_pool() -> Callable[[Place], Place]:
    """A function that gives equal places as one object: of 100,000 sentences, most stand at the same few."""
    known: dict[Place, Place] = {}
    return lambda place: known.setdefault(place, place)
