"""Annotated links between words of a text, and whether a head's attention finds them.

Two rules. Where every other word competes, attention *to* a word is the sum over its pieces and attention *from* it
the mean over them; special tokens and the word itself drop out, and the largest wins (arXiv:1906.04341). Where
candidates are given, each is worth the largest weight between any of its pieces and any of the source's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.mask import BoolArray, FloatArray
from attention.tokens import TokenRow

Span = tuple[int, int]
DIRECTIONS = 2  # 0: the source looks at the target; 1: the source is what the target, of all that compete, looks at


@dataclass(frozen=True)
class Link:
    """One annotated link: of what competes for ``source``, ``target`` is right."""

    relation: str
    source: int  # of the item's units
    target: int
    others: tuple[int, ...] | None = None  # what the target competes with; None: every other unit of the text


@dataclass(frozen=True)
class AnnotatedText:
    """One annotated text. ``units`` are its words, or whatever the links speak of, as (start, stop) in characters."""

    text: str
    units: tuple[Span, ...]
    links: tuple[Link, ...]
    line: int = 1  # where it begins in its file, from 1


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the units of a padded batch of items stand among its tokens."""

    items: tuple[AnnotatedText, ...]
    units: BoolArray  # (text, unit, token): whether the token is a piece of the unit

    @classmethod
    def from_items(cls, items: Sequence[AnnotatedText], rows: Sequence[TokenRow], width: int | None = None) -> Layout:
        """The items as read: one row of tokens for each; ``width`` is the padded length, else the longest row's."""
        size = (len(items), max(len(item.units) for item in items), width or max(len(row) for row in rows))
        units = np.zeros(size, dtype=bool)
        for at, (item, row) in enumerate(zip(items, rows, strict=True)):
            units[at, : len(item.units), : len(row)] = membership(row, item.units)
        return cls(tuple(items), units)

    def read(self) -> BoolArray:
        """Whether each link's units all have a piece, (link,); what a tokenizer drops cannot be looked at."""
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
        """Which links each head finds, (link, direction, head), in the order of the items.

        ``weights`` is (text, head, query, key). A source that looks at nothing that competes finds nothing.
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
    """Which tokens are pieces of which unit, (unit, token): those that share a character with it.

    A piece without a place in the text goes with the next piece of its word, or the one before; special tokens belong
    to nothing.

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
    """Where each token stands; (-1, -1) for those that stand nowhere."""
    found: list[Span | None] = [None if word is None else span for word, span in zip(row.words, row.spans, strict=True)]
    for order in (range(len(row) - 2, -1, -1), range(1, len(row))):
        step = 1 if order.step < 0 else -1
        for at in order:
            if found[at] is None and row.words[at] is not None and row.words[at] == row.words[at + step]:
                found[at] = found[at + step]
    return [span or (-1, -1) for span in found]


def between_units(weights: FloatArray, units: BoolArray) -> FloatArray:
    """Attention between units, (text, head, unit, unit): sum over the pieces looked at, mean over those that look.

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
    """What one head gives each unit as the answer to a link, (unit,): the numbers of which ``find_hits`` takes the
    largest.

    ``weights`` is (query, key), ``units`` (unit, token). NaN where a unit does not compete.

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
    """Whether each source's largest weight to another unit goes to the target, (link, head).

    ``places`` is (link, 3): text, source and target.
    """
    texts, sources, targets = places.T
    rows = between[texts, :, sources]  # (link, head, unit)
    links = np.arange(len(places))
    rows[links, :, sources] = -1
    right: BoolArray = (rows.argmax(axis=2) == targets[:, None]) & (rows[links, :, targets] > 0)
    return right


def _beats_candidates(weights: FloatArray, units: BoolArray, link: Link) -> BoolArray:
    """Whether the target gets more than each other candidate, (head,); ``weights`` is (head, query, key)."""
    source = weights[:, units[link.source]]

    def worth(unit: int) -> FloatArray:
        largest: FloatArray = source[:, :, units[unit]].max(axis=(1, 2), initial=0)
        return largest

    best = np.max([worth(unit) for unit in link.others or ()], axis=0, initial=0)
    result: BoolArray = worth(link.target) > best
    return result
