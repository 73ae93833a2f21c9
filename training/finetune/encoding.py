"""Labelled texts as numbers: the pieces that a model reads, and what it is to say about them.

A text is given as it stands, never cut into words first: a tokenizer that marks the beginnings of words would mark
each Chinese word, which it never saw in training. Which piece belongs to which word is told by letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i18n import gettext_lazy
from inference.errors import as_user_error
from inference.text.pieces import role, style
from probing.labelled.labeled_texts import LabeledText, TaggedText
from training.translation.batches import Texts, texts

GOES_ON, UNREAD = -1, -2  # of words in which no piece begins
CHUNK = 1_000  # texts that are cut into pieces at a time

Rows = Sequence[LabeledText] | Sequence[TaggedText]
Row = LabeledText | TaggedText
Numbers = NDArray[np.int32]


@dataclass(frozen=True)
class Encoded:
    """Labelled texts in their order.

    ``labels`` are numbers: one for a text, or one for each of its words. ``places`` are there for words only: the
    piece that carries a word's tag, or GOES_ON where the word begins inside a piece of the word before, or UNREAD
    where it was cut off.
    """

    pieces: Texts
    kinds: Texts | None  # token types, where any is not 0
    labels: Texts
    places: Texts | None

    def __len__(self) -> int:
        return len(self.labels.starts) - 1


def encode_rows(rows: Rows, labels: Sequence[str], tokenizer: Any, length: int) -> Encoded:
    """The rows as numbers, at most ``length`` pieces each; raises Refusal for what the tokenizer cannot read."""
    number = {label: at for at, label in enumerate(labels)}
    told = [np.array([number[label] for label in _labels(row)], np.int32) for row in rows]
    read = list(_read(rows, tokenizer, length))
    pieces, kinds, places = ([one[part] for one in read] for part in range(3))
    return Encoded(
        texts(pieces),
        texts(kinds) if any(kind.any() for kind in kinds) else None,
        texts(told),
        texts(places) if isinstance(rows[0], TaggedText) else None,
    )


def sizes(tokenizer: Any, texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return the number of tokens of each text, and how many of them are unknown to the model."""
    unknown = tokenizer.unk_token_id
    return [(len(ids), ids.count(unknown)) for ids in tokenizer(list(texts), verbose=False)["input_ids"]]


def _labels(row: Row) -> tuple[str, ...]:
    return row.tags if isinstance(row, TaggedText) else (row.label,)


def _read(rows: Rows, tokenizer: Any, length: int) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """Of each row its pieces, their types, and its words' places."""
    tagged = isinstance(rows[0], TaggedText)
    spaces = _spaces(tokenizer) if tagged else frozenset()
    nothing = np.zeros(0, np.int32)
    for first in range(0, len(rows), CHUNK):
        some = rows[first : first + CHUNK]
        with as_user_error(
            gettext_lazy("The tokenizer of this model cannot read one of these texts. Pick another model.")
        ):
            batch = tokenizer([row.text for row in some], truncation=True, max_length=length, verbose=False)
        for at in range(len(some)):
            row: Row = some[at]
            # Of some texts nothing is read, and a batch needs something in each of its rows.
            ids = np.array(batch["input_ids"][at] or [tokenizer.pad_token_id], np.int32)
            types = np.zeros_like(ids)
            if "token_type_ids" in batch and batch["token_type_ids"][at]:
                types[:] = batch["token_type_ids"][at]
            places = nothing
            if isinstance(row, TaggedText):
                places = carriers(row.words, _letter_pieces(row.text, batch.encodings[at], spaces))
            yield ids, types, places


def _spaces(tokenizer: Any) -> frozenset[int]:
    """Pieces that only say that a word begins: some tokenizers let them claim its first letter."""
    how = style(tokenizer)
    return frozenset(number for piece, number in tokenizer.get_vocab().items() if role(piece, how) == "space")


def _letter_pieces(text: str, encoding: Any, spaces: frozenset[int]) -> Iterator[tuple[int, int, int]]:
    """Each piece that stands for letters: its place, its first letter, and where it ends."""
    columns = zip(encoding.ids, encoding.offsets, encoding.special_tokens_mask, strict=True)
    for place, (piece, (start, end), special) in enumerate(columns):
        letters = text[start:end]
        if not special and piece not in spaces and letters.strip():
            yield place, start + len(letters) - len(letters.lstrip()), end


def carriers(words: Sequence[tuple[int, int]], pieces: Iterable[tuple[int, int, int]]) -> Numbers:
    """Return the place of the first piece that begins in each word, shape (word,).

    Pieces are (place, first letter, end). A word in which no piece begins is GOES_ON if a piece of an earlier word
    reaches into it, else UNREAD: it was cut off, or the tokenizer drops all its characters (a soft hyphen).

    The examples: "ab cd"; "abcd" in words of 2, 1 and 1 letters, read as "abc" and "d"; three words, cut off after the
    second; three words of which the tokenizer drops the second.

    >>> carriers([(0, 2), (3, 5)], [(1, 0, 2), (2, 3, 5)]).tolist()
    [1, 2]
    >>> carriers([(0, 2), (2, 3), (3, 4)], [(1, 0, 3), (2, 3, 4)]).tolist()
    [1, -1, 2]
    >>> carriers([(0, 2), (2, 4), (4, 6)], [(1, 0, 2), (2, 2, 4)]).tolist()
    [1, 2, -2]
    >>> carriers([(0, 1), (2, 3), (4, 7)], [(1, 0, 1), (2, 4, 7)]).tolist()
    [1, -2, 2]
    """
    standing = list(pieces)
    found, at, reach = [], 0, 0
    for start, end in words:
        while at < len(standing) and standing[at][1] < start:
            reach = max(reach, standing[at][2])
            at += 1
        inside = at < len(standing) and standing[at][1] < end
        found.append(standing[at][0] if inside else GOES_ON if start < reach else UNREAD)
    return np.array(found, np.int32)
