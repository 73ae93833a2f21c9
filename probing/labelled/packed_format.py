"""Labelled texts in few bytes: lines of UTF-8 packed by xz, an empty line between train, dev and test.

A line's fields are parted by tabs: the class (empty where texts have none), then the text in pieces, by turns outside
any span, a span's kind, the span. Words stand between spaces; where two touch, a unit separator (U+001F) is between
them, except at a span's ends. All pieces but the kinds, without that separator, are the text:

    AddToPlaylist <tab> add a tune by  <tab> artist <tab> Amanda Stern <tab>  to the playlist
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Sequence

from probing.labelled.labeled_texts import OUTSIDE, LabeledText, TaggedText
from probing.labelled.spans import spans

TOUCH = "\x1f"
WORD = re.compile(f"[^ {TOUCH}]+")
# Text is made of bytes: four bits of the last one tell most of the next, and its place in a machine word tells nothing.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]


def line(row: LabeledText | TaggedText, label: str = "") -> str:
    """A row as a line; ``label`` is the class of a tagged text. Raises ValueError where the form has no way to say it.

    >>> line(TaggedText("Ann sings", ((0, 3), (4, 9)), ("B-PER", "O")))
    '\\t\\tPER\\tAnn\\t sings'
    """
    written = f"{row.label}\t{row.text}" if isinstance(row, LabeledText) else f"{label}\t{_mark_spans(row)}"
    again = parse_labeled(written) if isinstance(row, LabeledText) else parse_tagged(written)
    if "\n" in written or again != row:
        raise ValueError(f"A text cannot be packed, for its line ends, tabs or words: {row.text[:60]!r}")
    return written


def parse_labeled(written: str) -> LabeledText:
    """The text of a line and its class."""
    label, *pieces = written.split("\t")
    return LabeledText("".join(piece for at, piece in enumerate(pieces) if at % 3 != 1).replace(TOUCH, ""), label)


def parse_tagged(written: str) -> TaggedText:
    """The text of a line and its words' tags.

    >>> parse_tagged("\\t\\tPER\\tAnn Lee\\t sings")
    Tagged(text='Ann Lee sings', words=((0, 3), (4, 7), (8, 13)), tags=('B-PER', 'I-PER', 'O'))
    """
    text, words, tags = "", [], []
    pieces = written.split("\t")[1:]
    for at, piece in enumerate(pieces):
        if at % 3 == 1:
            continue
        for number, word in enumerate(WORD.finditer(piece)):
            start = len(text) + word.start() - piece.count(TOUCH, 0, word.start())
            words.append((start, start + len(word[0])))
            tags.append(OUTSIDE if at % 3 == 0 else f"{'I' if number else 'B'}-{pieces[at - 1]}")
        text += piece.replace(TOUCH, "")
    return TaggedText(text, tuple(words), tuple(tags))


def _mark_spans(row: TaggedText) -> str:
    """A text with its spans and touching words marked."""
    starts = {first: kind for kind, first, _ in spans(row.tags)}
    ends = {end for _, _, end in spans(row.tags)}
    parts, at = [], 0
    for number, (start, end) in enumerate(row.words):
        gap = row.text[at:start]
        if number in ends:
            parts.append("\t")
        if gap or number in starts or number in ends or not number:
            parts.append(gap)
        else:
            parts.append(TOUCH)
        if number in starts:
            parts.append(f"\t{starts[number]}\t")
        parts.append(row.text[start:end])
        at = end
    return "".join(parts) + "\t" * (len(row.words) in ends) + row.text[at:]


def pack(parts: Sequence[Sequence[str]]) -> bytes:
    """A file of the lines of train, dev and test."""
    text = "\n\n".join("\n".join(part) for part in parts) + "\n"
    return lzma.compress(text.encode(), format=lzma.FORMAT_XZ, filters=FILTERS)


def unpack(content: bytes) -> list[list[str]]:
    """The lines of train, dev and test in a file.

    >>> unpack(pack([["a\\t1", "b\\t2"], ["a\\t3"], ["b\\t4"]]))
    [['a\\t1', 'b\\t2'], ['a\\t3'], ['b\\t4']]
    """
    return [part.split("\n") for part in lzma.decompress(content).decode().removesuffix("\n").split("\n\n")]
