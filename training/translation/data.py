"""Sentence pairs for a translator: normalisation, vocabulary, and the batch of a step."""

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

# What is replaced before anything else reads a text; the tokenizer's own normaliser is made of the same lines.
REPLACED = (
    (r"[\u00ad\u200b\u200c\u2060\ufeff]", ""),  # characters that nobody sees
    (r"[\u2018\u2019\u02bc]", "'"),
    (r"\u2010|\u2011", "-"),
    (r"\s+", " "),  # no-break and narrow spaces too, such as French has before ? ! ; and :
)


def clean(text: str) -> str:
    """The sentence as it is trained on and scored.

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
    """What two sentences share that differ in case, punctuation and spaces only.

    >>> key("Well, that's it!") == key("well that's it")
    True
    """
    return " ".join(re.findall(r"\w+", text.casefold()))


Pair = tuple[str, str]  # source, target


@dataclass(frozen=True)
class HeldOut:
    """A source sentence that is never trained on, with every translation of it that the file has."""

    source: str
    references: tuple[str, ...]


def pairs(file: Path) -> Iterator[Pair]:
    """Every pair of a .tsv or .tsv.xz file, cleaned; further columns are not read. Raises Refusal."""
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
    """Pairs to train on, and sources kept for evaluation, each in the file's order without repetitions.

    What decides is the source without case and punctuation: sentences that differ in nothing else stay together.

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
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))  # what a character becomes that no piece has
SMALLEST = 3 + len(BYTES)  # pieces of a vocabulary that has learned nothing
_SPACE = "▁"


def learn_tokenizer(texts: Iterable[str], size: int, longest: int) -> PreTrainedTokenizerFast:
    """A byte-pair vocabulary (arXiv:1508.07909) of ``size`` pieces; ``longest`` is how many a text may have.

    A piece never spans two words, signs and digits stand alone, and an apostrophe ends a piece: "l'", "don'" are as
    good as words. An unknown character is spelled in bytes. Every text ends with the end mark, a source as a target.
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
    """A tokenizer as transformers knows it, which neither cuts nor fills up unless asked to."""
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
    """The tokenizer that a folder holds."""
    return PreTrainedTokenizerFast.from_pretrained(folder)


def _frame(model: models.BPE) -> Tokenizer:
    """A tokenizer around a model: how a text is cleaned, cut and put together again."""
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
    """Many texts as one array of pieces."""

    pieces: NDArray[np.int32]  # (piece,) of all texts, one behind the other
    starts: NDArray[np.int64]  # (text + 1,) where each begins, and where the last ends

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Pieces of every text, (text,)."""
        return np.diff(self.starts)

    def __getitem__(self, text: int) -> NDArray[np.int32]:
        return self.pieces[self.starts[text] : self.starts[text + 1]]


def texts(rows: Sequence[Sequence[int] | NDArray[np.int32]]) -> Texts:
    """Texts from their pieces."""
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Texts(np.concatenate([np.asarray(row, np.int32) for row in rows]), starts)


@dataclass(frozen=True)
class TranslationBatch:
    """What one step reads; arrays are (row, position), filled up with ``padding``."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    padding: int

    @property
    def count(self) -> int:
        """Pieces read, of both sides, padding left out."""
        return int((self.source != self.padding).sum() + (self.target != self.padding).sum())


def laid_out(rows: Sequence[Sequence[int] | NDArray[np.int32]], padding: int) -> NDArray[np.int64]:
    """Rows of unequal length as one array, (row, position).

    >>> laid_out([[5, 6, 7], [8]], padding=0).tolist()
    [[5, 6, 7], [8, 0, 0]]
    """
    filled = np.full((len(rows), max(map(len, rows))), padding, np.int64)
    for index, row in enumerate(rows):
        filled[index, : len(row)] = row
    return filled


@dataclass
class TranslationBatches:
    """The batches of a corpus, by step. A pass reads every pair once, pairs of like length together."""

    sources: Texts
    targets: Texts
    padding: int
    size: int  # pieces of source and target in a batch, padding included, at most
    seed: int
    _firsts: list[int] = field(default_factory=lambda: [0])  # first step of every pass known so far
    _kept: tuple[int, list[NDArray[np.int64]]] | None = None  # the latest pass and its batches

    def __call__(self, step: int) -> TranslationBatch:
        """The batch of a step, counted from 0 over all passes."""
        number, within = self.place(step)
        rows = self._batches(number)[within]
        return TranslationBatch(
            laid_out([self.sources[row] for row in rows], self.padding),
            laid_out([self.targets[row] for row in rows], self.padding),
            self.padding,
        )

    def place(self, step: int) -> tuple[int, int]:
        """Which pass a step is in, and which of its batches it reads."""
        while self._firsts[-1] <= step:
            self._firsts.append(self._firsts[-1] + len(self._batches(len(self._firsts) - 1)))
        number = int(np.searchsorted(self._firsts, step, side="right")) - 1
        return number, step - self._firsts[number]

    def _batches(self, number: int) -> list[NDArray[np.int64]]:
        """The rows of every batch of a pass, kept while it lasts."""
        if self._kept is None or self._kept[0] != number:
            self._kept = number, self._draw_order(np.random.default_rng([self.seed, number]))
        return self._kept[1]

    def _draw_order(self, random: np.random.Generator) -> list[NDArray[np.int64]]:
        source, target = self.sources.lengths, self.targets.lengths
        order = np.lexsort((random.random(len(source)), source, target))
        cut: list[NDArray[np.int64]] = []
        first, widest = 0, 0
        for at, row in enumerate(order):  # target lengths ascend, so only the sources' widest must be kept
            widest = max(widest, int(source[row]))
            if at > first and (at + 1 - first) * (widest + int(target[row])) > self.size:
                cut.append(order[first:at])
                first, widest = at, int(source[row])
        cut.append(order[first:])
        return [cut[index] for index in random.permutation(len(cut))]
