"""Sentence pairs for translation: normalisation, vocabulary and batches."""

from __future__ import annotations

import json
import lzma
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from inference.errors import UserError
from training.corpus import held_out

# Replacements (pattern, text) of the normalisation; the tokenizer's normaliser applies the same patterns.
REPLACED = (
    (r"[\u00ad\u200b\u200c\u2060\ufeff]", ""),  # invisible characters
    (r"[\u2018\u2019\u02bc]", "'"),
    (r"\u2010|\u2011", "-"),
    (r"\s+", " "),  # includes no-break and narrow spaces, which French sets before ? ! ; and :
)


def clean(text: str) -> str:
    """Return a sentence with normalised characters and spaces, as used in training and scoring.

    >>> clean("O\u00f9 est-il\u202f?  Ici\u00a0!")
    'Où est-il ? Ici !'
    >>> clean("It\u2019s me.")
    "It's me."
    """
    composed = unicodedata.normalize("NFC", text)
    for pattern, replacement in REPLACED:
        composed = re.sub(pattern, replacement, composed)
    return composed.strip()


def key(text: str) -> str:
    """Return a text in lower case without punctuation, with single spaces, to compare sentences by.

    >>> key("Well, that's it!") == key("well that's it")
    True
    """
    return " ".join(re.findall(r"\w+", text.casefold()))


Pair = tuple[str, str]  # source, target


@dataclass(frozen=True)
class HeldOut:
    """A held-out source sentence, with all its translations in the file."""

    source: str
    references: tuple[str, ...]


def pairs(file: Path) -> Iterator[Pair]:
    """Yield the normalised (source, target) pairs of a .tsv or .tsv.xz file, ignoring further columns.

    Raise UserError if the file is missing or malformed.
    """
    if not file.is_file() or not file.name.endswith((".tsv", ".tsv.xz")):
        raise UserError(f"There are no pairs at {file}. Name a .tsv or .tsv.xz file: source, tab, target.")
    for number, line in enumerate(_lines(file), start=1):
        columns = [clean(column) for column in line.rstrip("\n").split("\t")]
        if len(columns) < 2 or not all(columns[:2]):
            raise UserError(f"Line {number} of {file.name} does not hold a source, a tab and a target.")
        yield columns[0], columns[1]


def _lines(file: Path) -> Iterator[str]:
    unpacked = lzma.open if file.suffix == ".xz" else open
    try:
        with unpacked(file, "rt", encoding="utf-8") as stream:
            yield from stream
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise UserError(f"{file.name} cannot be read as UTF-8 text: {error}. Fetch or save it again.") from error


def split(given: Iterable[Pair], share: float) -> tuple[list[Pair], list[HeldOut]]:
    """Split (source, target) pairs into training pairs and held-out sources, without duplicates.

    A source is held out by a hash of ``key(source)``, with the probability ``share``. Sources that differ only in case
    or punctuation therefore stay together.

    >>> train, held = split([("Hi.", "Salut."), ("Hi!", "Salut !"), ("Hi!", "Bonjour !")], share=1.0)
    >>> [(pair.source, len(pair.references)) for pair in held], train
    ([('Hi.', 1), ('Hi!', 2)], [])
    """
    train: list[Pair] = []
    kept: dict[str, list[str]] = {}
    for source, target in dict.fromkeys(given):
        if held_out(key(source), share):
            kept.setdefault(source, []).append(target)
        else:
            train.append((source, target))
    return train, [HeldOut(source, tuple(references)) for source, references in kept.items()]


PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))  # byte tokens for characters that are not in the vocabulary
SMALLEST = 3 + len(BYTES)  # size of a vocabulary without learned tokens
_SPACE = "▁"


def learn_tokenizer(texts: Iterable[str], size: int, longest: int) -> PreTrainedTokenizerFast:
    """Train a byte-pair encoding (arXiv:1508.07909) with a vocabulary of ``size`` tokens.

    ``longest`` is the maximum number of tokens of a text. No token spans two words, punctuation marks and digits
    are separate tokens, and a token ends after an apostrophe ("l'", "don'"). Unknown characters are encoded as
    bytes. Sources and targets both end with the end token.
    """
    learner = _frame(models.BPE())
    first = [PAD, END, UNKNOWN]
    learner.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=size - len(BYTES), special_tokens=first, show_progress=False)
    )
    learned = json.loads(learner.to_str())["model"]
    pieces = sorted(learned["vocab"], key=learned["vocab"].get)[len(first) :]
    vocabulary = {piece: at for at, piece in enumerate([*first, *BYTES, *pieces])}
    merges = [tuple(merge) for merge in learned["merges"]]
    backend = _frame(models.BPE(vocab=vocabulary, merges=merges, unk_token=UNKNOWN, byte_fallback=True))
    backend.add_special_tokens(first)
    backend.post_processor = processors.TemplateProcessing(
        single=f"$A {END}", pair=f"$A $B {END}", special_tokens=[(END, vocabulary[END])]
    )
    return wrap_tokenizer(backend, longest)


def wrap_tokenizer(backend: Tokenizer, longest: int) -> PreTrainedTokenizerFast:
    """Wrap a tokenizer of the library ``tokenizers`` for transformers.

    ``longest`` is the maximum number of tokens. The result truncates and pads only on request.
    """
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
        model_max_length=longest,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )


def load_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """Load the tokenizer from a folder."""
    return PreTrainedTokenizerFast.from_pretrained(folder)


def _frame(model: models.BPE) -> Tokenizer:
    """Return a tokenizer with the normaliser, pre-tokenizer and decoder for a BPE model."""
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), *(normalizers.Replace(Regex(a), b) for a, b in REPLACED), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(replacement=_SPACE, prepend_scheme="always"),
            pre_tokenizers.Split("'", "merged_with_previous"),
            pre_tokenizers.Split(Regex(rf"{_SPACE}?\d|{_SPACE}?[^\w\s{_SPACE}']"), "isolated"),
        ]
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(_SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer


@dataclass(frozen=True)
class Texts:
    """The token ids of many texts, concatenated in one array; ``starts`` has the offset of each text."""

    pieces: NDArray[np.int32]  # (token,) ids of all texts, concatenated
    starts: NDArray[np.int64]  # (text + 1,) offset of each text, then the end of the last

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Return the number of tokens of every text, shape (text,)."""
        return np.diff(self.starts)

    def __getitem__(self, text: int) -> NDArray[np.int32]:
        return self.pieces[self.starts[text] : self.starts[text + 1]]


def texts(rows: Sequence[Sequence[int] | NDArray[np.int32]]) -> Texts:
    """Concatenate the token ids of many texts into a ``Texts`` object."""
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Texts(np.concatenate([np.asarray(row, np.int32) for row in rows]), starts)


@dataclass(frozen=True)
class TranslationBatch:
    """The token ids of one step; arrays are (row, position), padded with ``padding``."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    padding: int

    @property
    def count(self) -> int:
        """Return the number of source and target tokens without padding."""
        return int((self.source != self.padding).sum() + (self.target != self.padding).sum())


def laid_out(rows: Sequence[Sequence[int] | NDArray[np.int32]], padding: int) -> NDArray[np.int64]:
    """Return rows of token ids of unequal length as an array (row, position), padded on the right.

    >>> laid_out([[5, 6, 7], [8]], padding=0).tolist()
    [[5, 6, 7], [8, 0, 0]]
    """
    filled = np.full((len(rows), max(map(len, rows))), padding, np.int64)
    for index, row in enumerate(rows):
        filled[index, : len(row)] = row
    return filled


@dataclass
class TranslationBatches:
    """The batches of sentence pairs, one for each step.

    An epoch reads every pair once, in batches of similar length.
    """

    sources: Texts
    targets: Texts
    padding: int
    size: int  # maximum tokens of source and target in a batch, including padding
    seed: int
    _firsts: list[int] = field(default_factory=lambda: [0])  # first step of every epoch so far
    _kept: tuple[int, list[NDArray[np.int64]]] | None = None  # the latest epoch and its batches

    def __call__(self, step: int) -> TranslationBatch:
        """Return the batch of a step, counted from 0 over all epochs."""
        number, within = self.place(step)
        rows = self._batches(number)[within]
        return TranslationBatch(
            laid_out([self.sources[row] for row in rows], self.padding),
            laid_out([self.targets[row] for row in rows], self.padding),
            self.padding,
        )

    def place(self, step: int) -> tuple[int, int]:
        """Return the epoch to which a step belongs, and the index of its batch within that epoch."""
        while self._firsts[-1] <= step:
            self._firsts.append(self._firsts[-1] + len(self._batches(len(self._firsts) - 1)))
        number = int(np.searchsorted(self._firsts, step, side="right")) - 1
        return number, step - self._firsts[number]

    def _batches(self, number: int) -> list[NDArray[np.int64]]:
        """Return the row indices of every batch of an epoch; only the latest epoch is cached."""
        if self._kept is None or self._kept[0] != number:
            self._kept = number, self._draw_order(np.random.default_rng([self.seed, number]))
        return self._kept[1]

    def _draw_order(self, random: np.random.Generator) -> list[NDArray[np.int64]]:
        source, target = self.sources.lengths, self.targets.lengths
        order = np.lexsort((random.random(len(source)), source, target))
        cut: list[NDArray[np.int64]] = []
        first, widest = 0, 0
        for at, row in enumerate(order):  # target lengths ascend, so only the longest source needs tracking
            widest = max(widest, int(source[row]))
            if at > first and (at + 1 - first) * (widest + int(target[row])) > self.size:
                cut.append(order[first:at])
                first, widest = at, int(source[row])
        cut.append(order[first:])
        return [cut[index] for index in random.permutation(len(cut))]
