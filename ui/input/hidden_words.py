"""Which words a reader has hidden, as places in the text that a link can hold."""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from typing import Any

from attention.tokens import TokenRow
from inference.tasks.masked_words import Place, lies_in
from inference.text.word_segmentation import number_words

SHOWN = 60  # words at the beginning, of which the last is hidden first: it is on screen at once
NOTHING = "-"  # in a link: the reader has uncovered every word
_PLACES = re.compile(r"[01]:[0-9]{1,7}-[0-9]{1,7}(,[01]:[0-9]{1,7}-[0-9]{1,7}){0,199}")
TYPED = "[MASK]"


def fingerprint(text: str, pair: str) -> str:
    """A few letters that tell two texts apart, so that places in one are not taken for places in another.

    >>> fingerprint("a", "") == fingerprint("a", ""), fingerprint("a", "b") == fingerprint("ab", "")
    (True, False)
    """
    both = "\0".join([text, pair])
    return f"{zlib.crc32(both.encode('utf-8', 'replace')):08x}"


def parse(raw: str) -> tuple[Place, ...]:
    """Places as a link writes them; none where it is damaged.

    >>> parse("0:4-10,1:0-3"), parse("x")
    (((0, 4, 10), (1, 0, 3)), ())
    """
    if not _PLACES.fullmatch(raw):
        return ()
    parts = (re.split("[:-]", place) for place in raw.split(","))
    return tuple((int(text), int(start), int(end)) for text, start, end in parts)


def write(places: Collection[Place]) -> str:
    """The inverse of ``parse``; NOTHING for no place.

    >>> write([(0, 4, 10)]), write([])
    ('0:4-10', '-')
    """
    return ",".join(f"{text}:{start}-{end}" for text, start, end in sorted(places)) or NOTHING


def first_place(text: str, pair: str, example: Mapping[str, Any] | None, mask: str = TYPED) -> tuple[Place, ...]:
    """What to hide before the reader has hidden anything: the example's word, else the last word of the
    beginning; nothing where [MASK] is typed already, or the model's own ``mask``.

    Words are those that the strip shows: of a script without spaces, a character each.

    >>> first_place("A cat sat.", "", None), first_place("A [MASK] sat.", "", None)
    (((0, 6, 9),), ())
    """
    if any(typed in given for typed in (TYPED, mask) for given in (text, pair)):
        return ()
    words = [(start, end) for start, end in _words(text) if text[start].isalnum()]
    asked = [(start, end) for start, end in words if example is not None and text[start:end] == example.get("focus")]
    found = asked or words[:SHOWN][-1:]
    return tuple((0, start, end) for start, end in found[:1])


def _words(text: str) -> Iterator[tuple[int, int]]:
    """Where each word stands, (start, end)."""
    for number, run in groupby(enumerate(number_words(text)), key=lambda place: place[1]):
        if number is not None:
            places = [at for at, _ in run]
            yield places[0], places[-1] + 1


def toggle_hidden(row: TokenRow, places: Collection[Place], tokens: Collection[int]) -> tuple[Place, ...]:
    """The places after a click on some tokens: hidden when one of them was not, else uncovered.

    >>> row = TokenRow(("play", "ing"), (1, 2), (0, 0), (0, 0), ((0, 4), (4, 7)))
    >>> toggle_hidden(row, [], [0, 1]), toggle_hidden(row, [(0, 0, 7)], [1])
    (((0, 0, 7),), ((0, 0, 4),))
    """
    hidden = {at for at in range(len(row)) if lies_in(row, at, list(places))}
    clicked = {at for at in tokens if row.spans[at] is not None}
    after = hidden - clicked if clicked <= hidden else hidden | clicked
    found: list[Place] = []
    for at in sorted(after):
        start, end = row.spans[at] or (0, 0)
        segment = row.segments[at]
        if found and found[-1][0] == segment and found[-1][2] >= start:
            found[-1] = (segment, found[-1][1], max(end, found[-1][2]))
        else:
            found.append((segment, start, end))
    return tuple(found)
