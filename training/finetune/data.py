"""Labelled texts as arrays: loading of a command's files, tokenisation, and batches."""

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

GOES_ON, UNREAD = -1, -2  # values in ``places`` for words in which no token begins
CHUNK = 1_000  # texts per call of the tokenizer

Rows = Sequence[LabeledText] | Sequence[TaggedText]
Row = LabeledText | TaggedText
Numbers = NDArray[np.int32]


@dataclass(frozen=True)
class Encoded:
    """Tokenised labelled texts, in the order of the rows.

    ``labels`` has the label indices of each text: its class, a tag for each word, or the positions of the answer's
    first and last token. ``places`` is None except for word tagging. There it has the position of the token at which
    the tag of each word is predicted. It is GOES_ON if the word begins inside a token of an earlier word, and UNREAD if
    the word has no token, for example because of truncation.
    """

    pieces: Texts
    kinds: Texts | None  # token type ids; None if all are 0
    labels: Texts
    places: Texts | None

    def __len__(self) -> int:
        return len(self.labels.starts) - 1


def encode_rows(rows: Rows, labels: Sequence[str], tokenizer: Any, length: int) -> Encoded:
    """Tokenise labelled texts, each truncated to ``length`` tokens; raise UserError if the tokenizer fails.

    ``labels`` are the names of all labels; the index of a name is its label number.
    """
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
    """Return (number of tokens, number of unknown tokens) for each text."""
    unknown = tokenizer.unk_token_id
    return [(len(ids), ids.count(unknown)) for ids in tokenizer(list(texts), verbose=False)["input_ids"]]


def _labels(row: Row) -> tuple[str, ...]:
    return row.tags if isinstance(row, TaggedText) else (row.label,)


def _read(rows: Rows, tokenizer: Any, length: int) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """Yield token ids, token type ids and word positions of each row."""
    tagged = isinstance(rows[0], TaggedText)
    spaces = _spaces(tokenizer) if tagged else frozenset()
    nothing = np.zeros(0, np.int32)
    for first in range(0, len(rows), CHUNK):
        some = rows[first : first + CHUNK]
        with as_user_error(gettext_lazy("The tokenizer cannot read one of these texts. Pick another model.")):
            batch = tokenizer([row.text for row in some], truncation=True, max_length=length, verbose=False)
        for at in range(len(some)):
            row: Row = some[at]
            # Some texts have no tokens, but a batch needs at least one token per row.
            ids = np.array(batch["input_ids"][at] or [tokenizer.pad_token_id], np.int32)
            types = np.zeros_like(ids)
            if "token_type_ids" in batch and batch["token_type_ids"][at]:
                types[:] = batch["token_type_ids"][at]
            places = nothing
            if isinstance(row, TaggedText):
                places = carriers(row.words, _letter_pieces(row.text, batch.encodings[at], spaces))
            yield ids, types, places


def _spaces(tokenizer: Any) -> frozenset[int]:
    """Return the ids of tokens that only mark the start of a word.

    In some tokenizers the offsets of these tokens include the word's first letter.
    """
    how = style(tokenizer)
    return frozenset(number for piece, number in tokenizer.get_vocab().items() if role(piece, how) == "space")


def _letter_pieces(text: str, encoding: Any, spaces: frozenset[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (position, first letter, end) of each token that represents letters."""
    columns = zip(encoding.ids, encoding.offsets, encoding.special_tokens_mask, strict=True)
    for place, (piece, (start, end), special) in enumerate(columns):
        letters = text[start:end]
        if not special and piece not in spaces and letters.strip():
            yield place, start + len(letters) - len(letters.lstrip()), end


def carriers(words: Sequence[tuple[int, int]], pieces: Iterable[tuple[int, int, int]]) -> Numbers:
    """Return the position of the token at which each word's tag is predicted, shape (word,).

    It is the first token that begins in the word. ``words`` has (start, end) of each word in characters, and ``pieces``
    (position, start, end) of each token. If no token begins in a word, the result is GOES_ON if a token of an earlier
    word reaches into the word. Otherwise it is UNREAD: the word was truncated, or the tokenizer drops all its
    characters (such as a soft hyphen).

    >>> carriers([(0, 2), (3, 5)], [(1, 0, 2), (2, 3, 5)]).tolist()  # a token for each word
    [1, 2]
    >>> carriers([(0, 2), (2, 3), (3, 4)], [(1, 0, 3), (2, 3, 4)]).tolist()  # ab, c, d; tokens abc and d
    [1, -1, 2]
    >>> carriers([(0, 2), (2, 4), (4, 6)], [(1, 0, 2), (2, 2, 4)]).tolist()  # truncated after the second word
    [1, 2, -2]
    >>> carriers([(0, 1), (2, 3), (4, 7)], [(1, 0, 1), (2, 4, 7)]).tolist()  # the tokenizer drops the second word
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


NOTHING = -100  # label of positions that the cross-entropy ignores
NEIGHBOURS = 32  # batches whose rows are sorted by length together, to reduce padding


@dataclass(frozen=True)
class FinetuneBatch:
    """The input and the labels of one step; arrays are (row, position) unless noted otherwise."""

    pieces: NDArray[np.int64]
    kinds: NDArray[np.int64] | None
    real: NDArray[np.int64]  # attention mask: 1 for tokens, 0 for padding
    # (row,) for classes; (row, [first, last]) for answers; (row, position) for tags, with NOTHING at unlabelled tokens
    labels: NDArray[np.int64]

    @property
    def count(self) -> int:
        """Return the number of tokens without padding."""
        return int(self.real.sum())

    @property
    def label_count(self) -> int:
        """Return the number of labels in the batch, over which the loss is averaged.

        For classes it counts the texts, for tags the words that have their own token. For answers it counts two labels
        for each window: the first and the last token.
        """
        return int((self.labels != NOTHING).sum())


def batch(rows: Encoded, some: Sequence[int] | NDArray[np.int64], padding: int) -> FinetuneBatch:
    """Return the batch of the texts in ``rows`` with the indices ``some``.

    Token ids are padded on the right with ``padding``.
    """
    pieces = [rows.pieces[row] for row in some]
    real = laid_out([np.ones_like(one) for one in pieces], 0)
    kinds = None if rows.kinds is None else laid_out([rows.kinds[row] for row in some], 0)
    if rows.places is None:
        labels = np.stack([rows.labels[row] for row in some]).astype(np.int64)
        labels = labels[:, 0] if labels.shape[1] == 1 else labels
    else:
        labels = np.full_like(real, NOTHING)
        for at, row in enumerate(some):
            carried = rows.places[row] >= 0
            labels[at, rows.places[row][carried]] = rows.labels[row][carried]
    return FinetuneBatch(laid_out(pieces, padding), kinds, real, labels)


@dataclass
class FinetuneBatches:
    """The batches of labelled texts, one for each step.

    An epoch reads every row once, in batches of similar length.
    """

    rows: Encoded
    padding: int
    size: int  # rows in a batch; a batch of each epoch may have fewer
    seed: int
    _kept: tuple[int, list[NDArray[np.int64]]] | None = field(
        default=None, repr=False
    )  # the latest epoch and its batches

    def __call__(self, step: int) -> FinetuneBatch:
        """Return the batch of a step, counted from 0 over all epochs."""
        number, within = divmod(step, self.in_a_pass)
        if self._kept is None or self._kept[0] != number:
            self._kept = number, self._draw_order(np.random.default_rng([self.seed, number]))
        return batch(self.rows, self._kept[1][within], self.padding)

    @property
    def in_a_pass(self) -> int:
        """Return the number of steps (batches) in an epoch."""
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
    """Labelled texts for fine-tuning, their licence and authors for the model card, and notes from loading."""

    labels: LabeledDataset
    name: str
    licence: str = "not stated"
    attribution: str = "whoever brought the file"
    notes: tuple[str, ...] = ()
    called: str = ""  # title on the model card; "" for the name of the folder


def task(  # noqa: PLR0913  # the files, and their format
    kind: Kind,
    train: str,
    dev: Path | None,
    test: Path | None,
    seed: int,
    columns: Columns = ANY,
    encoding: str = "",
) -> LabeledTask:
    """Load the labelled texts that a command names; raise UserError if they cannot be read.

    ``train`` is a file if it exists, otherwise the id of a ready-made data set. If dev or test files are missing, their
    rows are split from ``train`` at random by the seed.
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
    """Return the number of a column of words or tags; raise UserError if it is not a number."""
    if column is None:
        return None
    if not (column.isascii() and column.isdigit() and len(column) < 6):
        raise UserError(f"Columns of words have no names: expected a number from 1, got {column[:40]}.")
    return int(column)
