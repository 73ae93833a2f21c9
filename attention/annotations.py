"""Annotated links between words, and the test for whether a head's attention finds them.

A link has a source word and a target word. A head finds the link if the source attends more to the target than to any
other candidate.

If every word is a candidate, attention to a word is the sum over its tokens, and attention from a word the mean over
its tokens (arXiv:1906.04341). Special tokens and the source itself are excluded. If an annotation lists its
candidates, the value of a candidate is the largest weight between any of its tokens and any token of the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.mask import BoolArray, FloatArray
from attention.tokens import TokenRow

Span = tuple[int, int]
# 0: the source attends to the target; 1: the target, among all candidates, attends most to the source.
DIRECTIONS = 2


@dataclass(frozen=True)
class Link:
    """An annotated link: attention from the word ``source`` should prefer ``target`` to all ``others``."""

    relation: str
    source: int  # index into the units of the text
    target: int
    others: tuple[int, ...] | None = None  # competitors of the target; None means every other unit of the text


@dataclass(frozen=True)
class AnnotatedText:
    """An annotated text; ``units`` are its words or other annotated spans, as (start, stop) in characters."""

    text: str
    units: tuple[Span, ...]
    links: tuple[Link, ...]
    line: int = 1  # line number in the file, from 1


@dataclass(frozen=True, eq=False)
class Layout:
    """A padded batch of annotated texts, with flags for the tokens that belong to each annotated word."""

    items: tuple[AnnotatedText, ...]
    units: BoolArray  # (text, unit, token): True if the token belongs to the unit

    @classmethod
    def from_items(cls, items: Sequence[AnnotatedText], rows: Sequence[TokenRow], width: int | None = None) -> Layout:
        """Build a batch from texts and their token rows, padded to ``width`` tokens.

        The default of ``width`` is the length of the longest row.
        """
        size = (len(items), max(len(item.units) for item in items), width or max(len(row) for row in rows))
        units = np.zeros(size, dtype=bool)
        for at, (item, row) in enumerate(zip(items, rows, strict=True)):
            units[at, : len(item.units), : len(row)] = membership(row, item.units)
        return cls(tuple(items), units)

    def read(self) -> BoolArray:
        """Return True for each link if the model reads the link's source, target and candidates, shape (link,).

        The words of a truncated text may be missing.
        """
        seen: BoolArray = np.any(self.units, axis=2)
        return np.array(
            [
                all(seen[text, unit] for unit in (link.source, link.target, *(link.others or ())))
                for text, item in enumerate(self.items)
                for link in item.links
            ],
            dtype=np.bool_,
        )

    def find_hits(self, weights: FloatArray) -> BoolArray:
        """Return True for each link, direction and head if the head finds the link, (link, direction, head).

        ``weights`` is (text, head, query, key). In direction 0, a head finds a link if the source attends to the target
        more than to other candidates. In direction 1, it does if the target attends to the source more than other
        candidates do. A link is not found if all these weights are zero. The links are those of all texts, in order.
        """
        links = [(text, link) for text, item in enumerate(self.items) for link in item.links]
        result = np.zeros((len(links), DIRECTIONS, weights.shape[1]), dtype=bool)
        free = np.array([at for at, (_, link) in enumerate(links) if link.others is None], dtype=np.intp)
        if len(free):
            places = np.array([(links[at][0], links[at][1].source, links[at][1].target) for at in free])
            between = between_units(weights, self.units)
            result[free, 0] = _is_strongest(between, places)
            result[free, 1] = _is_strongest(between.swapaxes(2, 3), places)
        for at, (text, link) in enumerate(links):
            if link.others is not None:
                result[at, 0] = _beats_candidates(weights[text], self.units[text], link)
                result[at, 1] = _beats_candidates(weights[text].swapaxes(1, 2), self.units[text], link)
        return result


def membership(row: TokenRow, units: Sequence[Span]) -> BoolArray:
    """Return True for each token that belongs to a word or another annotated span, shape (unit, token).

    A token belongs to a unit if they share a character. A token without characters takes the span of the next token of
    its word, or else of the previous token of its word. Special tokens belong to no unit.

    >>> row = TokenRow(("[CLS]", "play", "ing"), (101, 2377, 2075), (None, 0, 0), (0, 0, 0), (None, (0, 4), (4, 7)))
    >>> membership(row, [(0, 7)]).tolist()
    [[False, True, True]]
    """
    places = np.array(_places(row), dtype=np.intp).reshape(-1, 2)
    bounds = np.array(units, dtype=np.intp).reshape(-1, 2)
    shared = (places[None, :, 0] < bounds[:, None, 1]) & (places[None, :, 1] > bounds[:, None, 0])
    result: BoolArray = shared
    return result


def _places(row: TokenRow) -> list[Span]:
    """Return the character span of each token, or (-1, -1) without a span."""
    found: list[Span | None] = [None if word is None else span for word, span in zip(row.words, row.spans, strict=True)]
    for order in (range(len(row) - 2, -1, -1), range(1, len(row))):
        step = 1 if order.step < 0 else -1
        for at in order:
            if found[at] is None and row.words[at] is not None and row.words[at] == row.words[at + step]:
                found[at] = found[at + step]
    return [span or (-1, -1) for span in found]


def between_units(weights: FloatArray, units: BoolArray) -> FloatArray:
    """Return the attention between words or other annotated spans, shape (text, head, unit, unit).

    Weights are summed over the key tokens of a unit and averaged over the query tokens.

    >>> weights = np.array([[[[0.1, 0.6, 0.3], [0.4, 0.2, 0.4], [0.5, 0.25, 0.25]]]], np.float32)
    >>> two = np.array([[[True, False, False], [False, True, True]]])  # the second unit has two pieces
    >>> between_units(weights, two).round(3).tolist()
    [[[[0.10000000149011612, 0.8999999761581421], [0.44999998807907104, 0.550000011920929]]]]
    """
    texts, heads, queries, keys = weights.shape
    pieces = units.astype(np.float32)
    to = (weights.reshape(texts, heads * queries, keys) @ pieces.swapaxes(1, 2)).reshape(texts, heads, queries, -1)
    means = pieces / np.maximum(pieces.sum(axis=2, keepdims=True), 1)
    result: FloatArray = means[:, None] @ to
    return result


def candidate_weights(weights: FloatArray, units: BoolArray, link: Link, direction: int) -> FloatArray:
    """Return a head's attention between a link's source and each candidate for its target, shape (unit,).

    A unit is a word or another annotated span. ``weights`` is (query, key) and ``units`` (unit, token). ``direction``
    is 0 for attention from the source to the candidates, and 1 for the reverse. The value of a unit that is not a
    candidate is NaN.

    >>> weights = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3], [0.4, 0.4, 0.2]], np.float32)
    >>> candidate_weights(weights, np.eye(3, dtype=bool), Link("r", 0, 1), 0).round(3).tolist()  # what the first gives
    [nan, 0.5, 0.30000001192092896]
    >>> candidate_weights(weights, np.eye(3, dtype=bool), Link("r", 0, 1), 1).round(3).tolist()  # what it gets
    [nan, 0.6000000238418579, 0.4000000059604645]
    """
    result: FloatArray = np.full(len(units), np.nan, np.float32)
    if link.others is None:
        between = between_units(weights[None, None], units[None])[0, 0]
        result[:] = between[link.source] if direction == 0 else between[:, link.source]
        result[link.source] = np.nan
    else:
        source = (weights if direction == 0 else weights.T)[units[link.source]]
        for unit in (link.target, *link.others):
            result[unit] = source[:, units[unit]].max(initial=0)
    return result


def _is_strongest(between: FloatArray, places: npt.NDArray[np.intp]) -> BoolArray:
    """Return True if a source's largest weight to another unit goes to the target, shape (link, head).

    ``places`` is (link, 3): text, source and target.
    """
    texts, sources, targets = places.T
    rows = between[texts, :, sources]  # (link, head, unit)
    links = np.arange(len(places))
    rows[links, :, sources] = -1
    right: BoolArray = (rows.argmax(axis=2) == targets[:, None]) & (rows[links, :, targets] > 0)
    return right


def _beats_candidates(weights: FloatArray, units: BoolArray, link: Link) -> BoolArray:
    """Return True for each head that scores the target above every other candidate, shape (head,).

    ``weights`` is (head, query, key).
    """
    source = weights[:, units[link.source]]

    def worth(unit: int) -> FloatArray:
        largest: FloatArray = source[:, :, units[unit]].max(axis=(1, 2), initial=0)
        return largest

    best = np.max([worth(unit) for unit in link.others or ()], axis=0, initial=0)
    result: BoolArray = worth(link.target) > best
    return result
