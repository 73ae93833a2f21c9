"""Data classes of labelled texts, and functions that join and locate words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Kind = Literal["classify", "tag"]
HeadKind = Literal["classify", "tag", "answer"]  # "answer" marks the start and the end of an answer in a passage
OUTSIDE = "O"


@dataclass(frozen=True)
class LabeledText:
    """A text and the name of its class."""

    text: str
    label: str


@dataclass(frozen=True)
class TaggedText:
    """A text with a BIO tag for each word: "B-PER" begins a span, "I-PER" continues it.

    ``words`` are the spans of the words in ``text``, (start, end) in characters, in order and without overlap;
    Chinese words have no gap.
    """

    text: str
    words: tuple[tuple[int, int], ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class LabeledDataset:
    """The labelled texts of a task, in three splits: train, dev (to choose a checkpoint) and test.

    ``labels`` are the classes or tags in the order of the model's outputs; tags begin with "O".
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
    """The rows of a file, the line on which each label first occurs, and messages about the parsing.

    ``columns`` are the columns that were used, for use with further files of the same task. ``names`` are the names of
    all columns of the file.
    """

    rows: list[Row]
    first: dict[str, int]
    columns: Wanted
    names: tuple[str, ...]
    notes: tuple[str, ...]


Place = tuple[int, int]  # (start, end) of a word in characters

# Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, kana and Han (supplementary planes included).
SIDE_BY_SIDE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]"
)
MOST_LOOKED_AT = 20_000  # maximal characters that are sampled


def uses_spaces(words: Iterable[str]) -> bool:
    """Return True if a sentence of these words has spaces between its words.

    The result is False if at least half of the letters are of scripts without such spaces, like Chinese or Thai. Korean
    has spaces.

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
    """Return the sentence of these words, and the span (start, end) of each word in characters.

    If ``spaces`` is False, spaces are put only between words that need them, such as English words in a Chinese text.

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
    """Return True if two words of a spaced script meet in a text without spaces.

    Two single letters do not count as words.
    """
    edges = left[-1] + right[0]
    return len(left) + len(right) > 2 and edges.isalnum() and not SIDE_BY_SIDE.search(edges)


def locate_words(words: Sequence[str], text: str) -> list[Place] | None:
    """Return the span of each word in ``text``, or None unless the text consists of these words and spaces.

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
    """Return a function that replaces equal spans by the same object, to save memory.

    Even 100,000 sentences have only a few distinct spans.
    """
    known: dict[Place, Place] = {}
    return lambda place: known.setdefault(place, place)
