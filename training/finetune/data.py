"""Labelled texts as tensors: the task of a command, encoding, and the batch of a step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.text.pieces import role, style
from probing.labelled import ready_sets
from probing.labelled.columns import Columns
from probing.labelled.conll import WordColumns
from probing.labelled.files import File
from probing.labelled.labeled_texts import Kind, LabeledDataset, LabeledText, TaggedText
from probing.labelled.loading import ANY, TaskFiles, read_labeled, read_tagged
from training.translation.data import Texts, laid_out, texts

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


NOTHING = -100  # in place of a label where nothing is asked, as cross-entropy leaves it out
NEIGHBOURS = 32  # batches whose rows are put in order of length together, so that little is padding


@dataclass(frozen=True)
class FinetuneBatch:
    """What one step reads; arrays are (row, position) unless they say otherwise."""

    pieces: NDArray[np.int64]
    kinds: NDArray[np.int64] | None
    real: NDArray[np.int64]  # 1 for pieces, 0 for padding
    labels: NDArray[np.int64]  # (row,) of texts; (row, position) of words, NOTHING where none begins

    @property
    def count(self) -> int:
        """Pieces read, padding left out."""
        return int(self.real.sum())

    @property
    def label_count(self) -> int:
        """Labels that are there: texts, or words that have a piece of their own."""
        return int((self.labels != NOTHING).sum())


def batch(rows: Encoded, some: Sequence[int] | NDArray[np.int64], padding: int) -> FinetuneBatch:
    """Some of the rows side by side, filled up behind with ``padding``."""
    pieces = [rows.pieces[row] for row in some]
    real = laid_out([np.ones_like(one) for one in pieces], 0)
    kinds = None if rows.kinds is None else laid_out([rows.kinds[row] for row in some], 0)
    if rows.places is None:
        labels = np.array([rows.labels[row][0] for row in some], np.int64)
    else:
        labels = np.full_like(real, NOTHING)
        for at, row in enumerate(some):
            carried = rows.places[row] >= 0
            labels[at, rows.places[row][carried]] = rows.labels[row][carried]
    return FinetuneBatch(laid_out(pieces, padding), kinds, real, labels)


@dataclass
class FinetuneBatches:
    """The batches of labelled texts, by step. A pass reads every row once, rows of like length together."""

    rows: Encoded
    padding: int
    size: int  # rows in a batch; the last one of a pass may have fewer
    seed: int
    _kept: tuple[int, list[NDArray[np.int64]]] | None = field(default=None, repr=False)  # the latest pass

    def __call__(self, step: int) -> FinetuneBatch:
        """The batch of a step, counted from 0 over all passes."""
        number, within = divmod(step, self.in_a_pass)
        if self._kept is None or self._kept[0] != number:
            self._kept = number, self._draw_order(np.random.default_rng([self.seed, number]))
        return batch(self.rows, self._kept[1][within], self.padding)

    @property
    def in_a_pass(self) -> int:
        """Steps that read every row once."""
        return math.ceil(len(self.rows) / self.size)

    def _draw_order(self, random: np.random.Generator) -> list[NDArray[np.int64]]:
        lengths, shuffled = self.rows.pieces.lengths, random.permutation(len(self.rows))
        cut: list[NDArray[np.int64]] = []
        for first in range(0, len(shuffled), self.size * NEIGHBOURS):
            near = shuffled[first : first + self.size * NEIGHBOURS]
            near = near[np.argsort(lengths[near], kind="stable")]
            cut += [near[at : at + self.size] for at in range(0, len(near), self.size)]
        return [cut[at] for at in random.permutation(len(cut))]


@dataclass(frozen=True)
class LabeledTask:
    """Labelled texts, with what a model card has to say about them, and what was found while they were read."""

    labels: LabeledDataset
    name: str
    licence: str = "not stated"
    attribution: str = "whoever brought the file"
    notes: tuple[str, ...] = ()
    called: str = ""  # what the taught model is called on its card; "" is the name of its folder


def task(  # noqa: PLR0913  # the parts, and how to read them
    kind: Kind,
    train: str,
    dev: Path | None,
    test: Path | None,
    seed: int,
    columns: Columns = ANY,
    encoding: str = "",
) -> LabeledTask:
    """The texts that a command names; parts that are not given are divided from ``train`` by the seed. Raises Refusal.

    A name with a file behind it is that file, any other is a ready set's.
    """
    if train in ready_sets.BY_ID and not Path(train).exists():
        return _load_ready_task(kind, train, dev, test)
    others = (None if path is None else File.from_path(path, encoding) for path in (dev, test))
    files = TaskFiles(File.from_path(Path(train), encoding), *others)
    if kind == "classify":
        read = read_labeled(files, columns, seed=seed)
    else:
        read = read_tagged(files, WordColumns(_number(columns.text), _number(columns.label)), seed=seed)
    return LabeledTask(read.labels, files.train.name, notes=read.notes)


def _load_ready_task(kind: Kind, name: str, dev: Path | None, test: Path | None) -> LabeledTask:
    card = ready_sets.BY_ID[name]
    if card.kind != kind:
        raise UserError(f"{name} is a set to {card.kind}. Write: python -m training {card.kind} {name}")
    if dev is not None or test is not None:
        raise UserError(f"{name} has its own dev and test rows. Leave out --dev and --test.")
    return LabeledTask(ready_sets.load(name), card.title, card.licence, f"{card.attribution} {card.citation}")


def _number(column: str | None) -> int | None:
    """Return the number of a column of words or tags, which have no names; raise Refusal for anything else."""
    if column is None:
        return None
    if not (column.isascii() and column.isdigit() and len(column) < 6):
        raise UserError(f"Columns of words have no names: expected a number from 1, got {column[:40]}.")
    return int(column)
