"""The batch of a step: a pure function of corpus, seed and step, so a resumed run reads what it would have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inference.errors import UserError
from training import masking, pairs
from training.corpus import TokenCorpus

SHORTEST = 16  # pieces of a shortened pair, special tokens included


@dataclass(frozen=True)
class Vocabulary:
    """What pairs and blanks need to know about a tokenizer's ids."""

    start: int
    end: int
    padding: int
    mask: int
    ordinary: NDArray[np.int64]  # (n,) every id but the special ones
    continues: NDArray[np.bool_]  # (id,) whether the piece continues a word ("##ing")


@dataclass(frozen=True)
class PretrainingBatch:
    """What one step reads; arrays are (row, position) unless they say otherwise."""

    masked: masking.MaskedBatch
    segments: NDArray[np.int64]  # 0 for [CLS] A [SEP], 1 for B [SEP]
    real: NDArray[np.int64]  # 1 for pieces, 0 for padding
    random: NDArray[np.int64]  # (row,) 1 where the second text is from elsewhere

    @property
    def count(self) -> int:
        """Pieces read, padding left out."""
        return int(self.real.sum())


@dataclass(frozen=True)
class PretrainingBatches:
    """The batches of a corpus, by step. Every span is read once before any is read twice."""

    corpus: TokenCorpus
    vocabulary: Vocabulary
    length: int
    size: int
    seed: int
    short: float = 0.0
    whole_words: bool = False

    @cached_property
    def spans(self) -> NDArray[np.int64]:
        """Where the corpus is cut; eight bytes for each ``length`` pieces, the one thing that grows with it."""
        found = pairs.spans(self.corpus, self.length - pairs.SPECIAL)
        if not len(found):
            raise UserError(
                f"No document has two sentences that make a pair of {self.length} pieces. Raise [data] length, or bring"
                " other texts."
            )
        return found

    def __call__(self, step: int, rate: float) -> PretrainingBatch:
        """The batch of a step, with that share of its pieces to be guessed."""
        random = np.random.default_rng([self.seed, step])
        room = self.length - pairs.SPECIAL
        rows = [pairs.pair(self.corpus, sentence, room, random) for sentence in self.sentences(step)]
        if random.random() < self.short:
            shorter = int(random.integers(SHORTEST, self.length)) - pairs.SPECIAL
            rows = [pairs.truncate_pair(row, shorter) for row in rows]
        pieces, segments, real = self._laid_out(rows)
        words = np.arange(pieces.shape[1]) + np.zeros_like(pieces)
        if self.whole_words:
            words = np.cumsum(~self.vocabulary.continues[pieces], axis=1)
        texts = (real == 1) & (pieces != self.vocabulary.start) & (pieces != self.vocabulary.end)
        chosen = masking.choose(texts, words, rate, random)
        masked = masking.mask(pieces, chosen, self.vocabulary.mask, self.vocabulary.ordinary, random)
        return PretrainingBatch(masked, segments, real, np.array([row.random for row in rows], np.int64))

    def sentences(self, step: int) -> list[int]:
        """Where this step's spans start: the next ones in the order of their pass over the corpus."""
        places = np.arange(step * self.size, (step + 1) * self.size)
        passes, within = np.divmod(places, len(self.spans))
        return [int(self.spans[self._order(int(p))[w]]) for p, w in zip(passes, within, strict=True)]

    def _order(self, number: int) -> NDArray[np.int64]:
        """The order of a pass, kept while it lasts."""
        kept: dict[int, NDArray[np.int64]] = self.__dict__.setdefault("_orders", {})
        if number not in kept:
            kept.clear()
            kept[number] = np.random.default_rng([self.seed, number, 1]).permutation(len(self.spans))
        return kept[number]

    def _laid_out(
        self, rows: list[pairs.SentencePair]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Pieces, segments and which are real, padded to the longest row."""
        vocabulary = self.vocabulary
        width = max(len(row.first) + len(row.second) for row in rows) + pairs.SPECIAL
        pieces = np.full((len(rows), width), vocabulary.padding, np.int64)
        segments, real = np.zeros_like(pieces), np.zeros_like(pieces)
        for index, row in enumerate(rows):
            middle = len(row.first) + 2
            end = middle + len(row.second) + 1
            pieces[index, :end] = [vocabulary.start, *row.first, vocabulary.end, *row.second, vocabulary.end]
            segments[index, middle:end] = 1
            real[index, :end] = 1
        return pieces, segments, real
