"""Predictions of a fine-tuned model on its test rows, loaded from its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError
from probing.labelled.labeled_texts import OUTSIDE, Kind

SCORES, ROWS = "evaluation.json", "predictions.jsonl"
UNREADABLE = (OSError, ValueError, LookupError, TypeError, RecursionError)

Place = tuple[int, int]  # (start, end) of a word in characters
Pair = tuple[int, int]  # (true, predicted) as indices into ``TestPredictions.labels``


@dataclass(frozen=True, slots=True)
class TextPrediction:
    """A test text with its true class ``true`` and its predicted class ``said``.

    Classes are indices into ``TestPredictions.labels``. ``sure`` is the probability of the predicted class, and ``due``
    that of the true class.
    """

    text: str
    true: int
    said: int
    sure: float
    due: float

    @property
    def hit(self) -> bool:
        """Return True if the predicted class is right."""
        return self.true == self.said

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Return the pair (true class, predicted class), in a tuple of length 1."""
        return ((self.true, self.said),)


@dataclass(frozen=True, slots=True)
class TagPrediction:
    """A text with the true and the predicted BIO tags of its words.

    ``tags`` are the true tags, ``told`` the predicted tags, and ``shares`` their probabilities (None for a truncated
    word). ``pairs`` has the indices of the true and the predicted label of each word, a cell of the confusion matrix.
    """

    text: str
    words: tuple[Place, ...]
    tags: tuple[str, ...]
    told: tuple[str, ...]
    shares: tuple[float | None, ...]
    pairs: tuple[Pair, ...]

    @property
    def hit(self) -> bool:
        """Return True if every tag is right."""
        return self.tags == self.told

    @property
    def sure(self) -> float:
        """Return the confidence by which rows are sorted, 0 to 1.

        It is the highest probability of a wrong tag, or, if all tags are right, the lowest probability of any tag.
        """
        each = list(zip(self.tags, self.told, (share or 0.0 for share in self.shares), strict=True))
        if self.hit:
            return min((share for *_, share in each), default=0.0)
        return max(share for tag, told, share in each if tag != told)


ToldRow = TextPrediction | TagPrediction


@dataclass(frozen=True, eq=False)
class TestPredictions:
    """The predictions of all test rows, in the order of the file, and the scores saved with the model.

    ``labels`` are the axes of the confusion matrix: the classes, or "O" and the span types that occur.
    """

    kind: Kind
    labels: tuple[str, ...]
    rows: tuple[ToldRow, ...]  # all of the same type
    scores: Mapping[str, Any]

    @property
    def test(self) -> Mapping[str, Any]:
        """Return the scores on the test split."""
        scores: Mapping[str, Any] = self.scores["test"]
        return scores


def load_predictions(folder: Path) -> TestPredictions:
    """Load the predictions in a model's folder; raise UserError if they cannot be read."""
    try:
        scores = json.loads((folder / SCORES).read_text(encoding="utf-8"))
        labels = tuple(str(label) for label in scores["test"]["labels"])
        kind: Kind = "tag" if scores["task"] == "tag" else "classify"
    except UNREADABLE as error:
        raise damaged_file_error(SCORES) from error
    numbers = {label: at for at, label in enumerate(labels)}
    try:
        with (folder / ROWS).open(encoding="utf-8", newline="\n") as lines:  # a text may contain other line separators
            values = (json.loads(line) for line in lines)
            if kind == "tag":
                return TestPredictions(kind, labels, tuple(_words(value, numbers) for value in values), scores)
            return TestPredictions(kind, labels, tuple(_text(value, numbers) for value in values), scores)
    except UNREADABLE as error:
        raise damaged_file_error(ROWS) from error


def damaged_file_error(file: str) -> UserError:
    """Return the error of a missing or damaged file of results."""
    return UserError(gettext_lazy("{file} is missing or damaged. Train the model again.", file=file))


def worst_first(rows: Sequence[ToldRow]) -> list[ToldRow]:
    """Sort rows: errors first, the most confident first; then right rows, the least confident first.

    >>> rows = [TextPrediction("a", 0, 0, 0.9, 0.9), TextPrediction("b", 0, 1, 0.6, 0.4), TextPrediction("c", 0, 1,
    ...     0.8, 0.2)]
    >>> [row.text for row in worst_first(rows)]
    ['c', 'b', 'a']
    """
    return sorted(rows, key=lambda row: (row.hit, row.sure if row.hit else -row.sure))


def in_cell(rows: Sequence[ToldRow], true: int | None, said: int | None) -> list[ToldRow]:
    """Return the predictions that are counted in the cell (true label, predicted label) of the confusion matrix.

    ``true`` is the true label and ``said`` the predicted label. None for ``said`` selects a whole row of the matrix,
    None for ``true`` a whole column.

    >>> rows = [TextPrediction("a", 0, 0, 0.9, 0.9), TextPrediction("b", 0, 1, 0.6, 0.4), TextPrediction("c", 2, 1,
    ...     0.8, 0.2)]
    >>> [row.text for row in in_cell(rows, None, 1)], [row.text for row in in_cell(rows, 0, 1)]
    (['b', 'c'], ['b'])
    """
    return [row for row in rows if any(counts(pair, true, said) for pair in row.pairs)]


def counts(pair: Pair, true: int | None, said: int | None) -> bool:
    """Return True if a pair (true, predicted) is counted in a cell of the confusion matrix.

    ``true`` and ``said`` are the true and the predicted label of the cell; None allows every label.
    """
    return true in (None, pair[0]) and said in (None, pair[1])


def _text(value: Mapping[str, Any], numbers: Mapping[str, int]) -> TextPrediction:
    true, said = numbers[value["label"]], numbers[value["said"]]
    shares = value["shares"]
    return TextPrediction(str(value["text"]), true, said, float(shares[said]), float(shares[true]))


def _words(value: Mapping[str, Any], numbers: Mapping[str, int]) -> TagPrediction:
    text = str(value["text"])
    places = tuple((int(start), int(end)) for start, end in value["words"])
    tags, said = tuple(map(str, value["tags"])), tuple(map(str, value["said"]))
    shares = tuple(None if share is None else float(share) for share in value["shares"])
    pairs = tuple((numbers[kind_of(tag)], numbers[kind_of(other)]) for tag, other in zip(tags, said, strict=True))
    if not len(places) == len(pairs) == len(shares):
        raise ValueError("a text's words, tags and shares differ in number")
    return TagPrediction(text, places, tags, said, shares, pairs)


def kind_of(tag: str) -> str:
    """Return the span type of a BIO tag, or "O".

    >>> kind_of("B-PER"), kind_of("O")
    ('PER', 'O')
    """
    return tag if tag == OUTSIDE else tag[2:]
