"""The batch of a step of BERT's pre-training: pairs of texts with masked tokens."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inference.errors import UserError
from training.corpus import TokenCorpus

MASKED, RANDOM, KEPT = 0.8, 0.1, 0.1  # what the model sees where it must guess: [MASK], any piece, the piece itself


@dataclass(frozen=True)
class MaskedBatch:
    """A batch with blanks: what the model reads, where it is asked, and what stood there."""

    pieces: NDArray[np.int64]  # (row, position)
    places: NDArray[np.int64]  # (chosen,) flat places in (row, position), ascending
    labels: NDArray[np.int64]  # (chosen,) the pieces that stood there
    shown: NDArray[np.int64]  # (chosen,) 0 [MASK], 1 a random piece, 2 the piece itself


def choose(
    candidates: NDArray[np.bool_], words: NDArray[np.int64], rate: float, random: np.random.Generator
) -> NDArray[np.bool_]:
    """Chooses a share of each row's candidates, whole groups at a time: (row, position) -> (row, position).

    ``words`` says which word each position belongs to, ascending along a row; a different number at every position
    chooses single pieces. In random order, each word is chosen that still fits into the row's share, which is
    ``rate`` times its candidates, rounded, and at least one; so whole words never exceed it, and a row where no word
    fits stays whole.

    >>> everywhere, alone = np.ones((1, 8), bool), np.arange(8)[None]
    >>> int(choose(everywhere, alone, 0.5, np.random.default_rng(0)).sum())
    4
    """
    rows = len(candidates)
    share = np.maximum(1, np.rint(rate * candidates.sum(axis=1))).astype(np.int64)
    share[~candidates.any(axis=1)] = 0
    chosen = np.zeros_like(candidates)
    for row in range(rows):
        members = np.flatnonzero(candidates[row])
        _, word, sizes = np.unique(words[row, members], return_inverse=True, return_counts=True)
        taken = np.zeros(len(sizes), bool)
        left = int(share[row])
        for candidate in random.permutation(len(sizes)):
            if sizes[candidate] <= left:
                taken[candidate] = True
                left -= int(sizes[candidate])
                if not left:
                    break
        chosen[row, members] = taken[word]
    return chosen


def mask(
    pieces: NDArray[np.int64],  # (row, position)
    chosen: NDArray[np.bool_],  # (row, position)
    mask_id: int,
    ordinary: NDArray[np.int64],  # (n,) the ids that may stand in at random: all but the special ones
    random: np.random.Generator,
) -> MaskedBatch:
    """Hides the chosen pieces: 80 % become the mask, 10 % a random piece, 10 % stay as they are."""
    places = np.flatnonzero(chosen)
    labels = pieces.reshape(-1)[places]
    drawn = random.random(len(places))
    shown = np.where(drawn < MASKED, 0, np.where(drawn < MASKED + RANDOM, 1, 2))
    read = pieces.copy()
    read.reshape(-1)[places[shown == 0]] = mask_id
    read.reshape(-1)[places[shown == 1]] = random.choice(ordinary, int((shown == 1).sum()))
    return MaskedBatch(pieces=read, places=places, labels=labels, shown=shown)


SPECIAL = 3  # [CLS] A [SEP] B [SEP]
_TRIES = 50  # draws for a random text that is long enough, before a shorter one is taken


@dataclass(frozen=True)
class SentencePair:
    """Two texts as ids, and whether the second is from elsewhere (transformers' label: 0 follows, 1 does not)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    random: bool


def spans(corpus: TokenCorpus, room: int) -> NDArray[np.int64]:
    """The sentences at which spans of ``room`` pieces start: (span,).

    Spans follow one another; the sentence that a span cuts starts the next, and a document's last span starts early
    enough to be full where the document is long enough. A place where no sentence ends within the room starts none.
    """
    found: list[int] = []
    for first, last in itertools.pairwise(corpus.documents.tolist()):
        found += (first + start for start in _starts(corpus.sentences[first : last + 1].tolist(), room))
    return np.array(found, np.int64)


def _starts(sentences: list[int], room: int) -> list[int]:
    """The sentences of one document at which its spans start, from the places of its sentences and its end."""
    found: list[int] = []
    end, sentence = sentences[-1], 0
    while sentence < len(sentences) - 2:
        if end - sentences[sentence] < room:  # the last span goes back as far as fills it
            back = bisect_right(sentences, max(sentences[0], end - room)) - 1
            sentence = back if back not in found[-1:] else sentence
            if sentence < len(sentences) - 2 and sentences[sentence + 1] < sentences[sentence] + room:
                found.append(sentence)
            break
        cut = bisect_right(sentences, sentences[sentence] + room) - 1
        # A sentence that ends just where the room does leaves nothing to follow it.
        if sentences[sentence + 1] < sentences[sentence] + room:
            found.append(sentence)
        sentence = max(cut, sentence + 1)
    return found


def pair(corpus: TokenCorpus, sentence: int, room: int, random: np.random.Generator) -> SentencePair:
    """A pair from the span that starts at a sentence; half of the time the second text is from another document."""
    starts = corpus.sentences
    document = int(corpus.document_of(np.array(sentence)))
    begin = int(starts[sentence])
    end = min(begin + room, int(starts[corpus.documents[document + 1]]))
    last = int(np.searchsorted(starts, end))  # the first sentence that does not start within the span
    split = int(starts[random.integers(sentence + 1, last)])
    first = corpus.pieces[begin:split]
    second = corpus.pieces[split:end]
    elsewhere = bool(random.integers(2)) and len(corpus.documents) > 2
    if elsewhere:
        second = _random_continuation(corpus, document, end - split, random)
    return SentencePair(first.astype(np.int64), second.astype(np.int64), elsewhere)


def _random_continuation(
    corpus: TokenCorpus, document: int, length: int, random: np.random.Generator
) -> NDArray[np.unsignedinteger]:
    """That many pieces from the start of a random sentence of another document, or as many as it has."""
    longest = corpus.pieces[:0]
    own = range(int(corpus.documents[document]), int(corpus.documents[document + 1]))
    for _ in range(_TRIES):
        sentence = int(random.integers(len(corpus.sentences) - 1))
        if sentence in own:
            continue
        begin = int(corpus.sentences[sentence])
        after = int(corpus.document_of(np.array(sentence))) + 1
        text = corpus.pieces[begin : min(begin + length, int(corpus.sentences[corpus.documents[after]]))]
        if len(text) > len(longest):
            longest = text
        if len(longest) == length:
            return longest
    return longest


def truncate_pair(pair: SentencePair, room: int) -> SentencePair:
    """The pair cut to ``room`` pieces around the place where its texts meet: A loses its front, B its end."""
    first = min(len(pair.first), max(room - len(pair.second), room // 2))
    return SentencePair(pair.first[len(pair.first) - first :], pair.second[: room - first], pair.random)


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

    masked: MaskedBatch
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
        found = spans(self.corpus, self.length - SPECIAL)
        if not len(found):
            raise UserError(
                f"No document has two sentences that make a pair of {self.length} pieces. Raise [data] length, or bring"
                " other texts."
            )
        return found

    def __call__(self, step: int, rate: float) -> PretrainingBatch:
        """The batch of a step, with that share of its pieces to be guessed."""
        random = np.random.default_rng([self.seed, step])
        room = self.length - SPECIAL
        rows = [pair(self.corpus, sentence, room, random) for sentence in self.sentences(step)]
        if random.random() < self.short:
            shorter = int(random.integers(SHORTEST, self.length)) - SPECIAL
            rows = [truncate_pair(row, shorter) for row in rows]
        pieces, segments, real = self._laid_out(rows)
        words = np.arange(pieces.shape[1]) + np.zeros_like(pieces)
        if self.whole_words:
            words = np.cumsum(~self.vocabulary.continues[pieces], axis=1)
        texts = (real == 1) & (pieces != self.vocabulary.start) & (pieces != self.vocabulary.end)
        chosen = choose(texts, words, rate, random)
        masked = mask(pieces, chosen, self.vocabulary.mask, self.vocabulary.ordinary, random)
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

    def _laid_out(self, rows: list[SentencePair]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Pieces, segments and which are real, padded to the longest row."""
        vocabulary = self.vocabulary
        width = max(len(row.first) + len(row.second) for row in rows) + SPECIAL
        pieces = np.full((len(rows), width), vocabulary.padding, np.int64)
        segments, real = np.zeros_like(pieces), np.zeros_like(pieces)
        for index, row in enumerate(rows):
            middle = len(row.first) + 2
            end = middle + len(row.second) + 1
            pieces[index, :end] = [vocabulary.start, *row.first, vocabulary.end, *row.second, vocabulary.end]
            segments[index, middle:end] = 1
            real[index, :end] = 1
        return pieces, segments, real
