"""Batches of BERT pre-training: sentence pairs with masked tokens."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inference.errors import UserError
from training.corpus import TokenCorpus

MASKED, RANDOM, KEPT = (
    0.8,
    0.1,
    0.1,
)  # shares of the chosen tokens that become [MASK], a random token, or stay unchanged (arXiv:1810.04805)


@dataclass(frozen=True)
class MaskedBatch:
    """Token sequences for masked-LM training: input ids, positions to predict, and labels."""

    pieces: NDArray[np.int64]  # (row, position)
    places: NDArray[np.int64]  # (chosen,) indices into the flattened (row, position) array, ascending
    labels: NDArray[np.int64]  # (chosen,) the original token ids
    shown: NDArray[np.int64]  # (chosen,) the model's input: 0 [MASK], 1 a random token, 2 the original token


def choose(
    candidates: NDArray[np.bool_], words: NDArray[np.int64], rate: float, random: np.random.Generator
) -> NDArray[np.bool_]:
    """Select the tokens to predict in masked-LM training; return a mask (row, position) of bool.

    ``candidates`` (row, position) is True for the tokens that may be selected. About the share ``rate`` of each row's
    candidates is selected. ``words`` (row, position) has the word number of each position, ascending along a row. Words
    are selected as a whole; for single tokens, number every position differently.

    The limit of a row is ``rate`` times its number of candidates, rounded, but at least 1. Words are tried in random
    order, and each that fits into the rest of the limit is selected. If every word is longer than the limit, nothing is
    selected.

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
    ordinary: NDArray[np.int64],  # (n,) the ids that random replacements are drawn from: all except special tokens
    random: np.random.Generator,
) -> MaskedBatch:
    """Apply BERT's masking to the chosen tokens and return the result.

    Of the chosen tokens, 80 % become the mask token, 10 % a random token, and 10 % stay unchanged.
    """
    places = np.flatnonzero(chosen)
    labels = pieces.reshape(-1)[places]
    drawn = random.random(len(places))
    shown = np.where(drawn < MASKED, 0, np.where(drawn < MASKED + RANDOM, 1, 2))
    read = pieces.copy()
    read.reshape(-1)[places[shown == 0]] = mask_id
    read.reshape(-1)[places[shown == 1]] = random.choice(ordinary, int((shown == 1).sum()))
    return MaskedBatch(pieces=read, places=places, labels=labels, shown=shown)


SPECIAL = 3  # [CLS] A [SEP] B [SEP]
_TRIES = 50  # draws of a random continuation before a text that is too short is accepted


@dataclass(frozen=True)
class SentencePair:
    """Two texts as token ids, and the next-sentence label.

    ``random`` is the label: True if the second text is from another document. Transformers encodes True as 1, and False
    ("the second text follows") as 0.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    random: bool


def spans(corpus: TokenCorpus, room: int) -> NDArray[np.int64]:
    """Divide a corpus into spans of ``room`` tokens; return the sentence that begins each span, (span,).

    The result has indices of sentences. Each span is divided into two texts later, so no span starts with a sentence of
    ``room`` or more tokens. If a span ends inside a sentence, the next span starts with that sentence again. The last
    span of a document overlaps the span before it, so that it has ``room`` tokens if the document is long enough.
    """
    found: list[int] = []
    for first, last in itertools.pairwise(corpus.documents.tolist()):
        found += (first + start for start in _starts(corpus.sentences[first : last + 1].tolist(), room))
    return np.array(found, np.int64)


def _starts(sentences: list[int], room: int) -> list[int]:
    """Return the indices of the sentences at which a document's spans start.

    ``sentences`` contains the offset of each sentence and, last, the end of the document.
    """
    found: list[int] = []
    end, sentence = sentences[-1], 0
    while sentence < len(sentences) - 2:
        if end - sentences[sentence] < room:  # start the last span earlier, so that it is full
            back = bisect_right(sentences, max(sentences[0], end - room)) - 1
            sentence = back if back not in found[-1:] else sentence
            if sentence < len(sentences) - 2 and sentences[sentence + 1] < sentences[sentence] + room:
                found.append(sentence)
            break
        cut = bisect_right(sentences, sentences[sentence] + room) - 1
        # A sentence that fills the whole span leaves no room for a second text.
        if sentences[sentence + 1] < sentences[sentence] + room:
            found.append(sentence)
        sentence = max(cut, sentence + 1)
    return found


def pair(corpus: TokenCorpus, sentence: int, room: int, random: np.random.Generator) -> SentencePair:
    """Draw a sentence pair from the span of ``room`` tokens that starts with sentence number ``sentence``.

    The span is split at a random boundary of two sentences into two texts. With probability 0.5 the second text is
    replaced by a text of another document, if there is another document.
    """
    starts = corpus.sentences
    document = int(corpus.document_of(np.array(sentence)))
    begin = int(starts[sentence])
    end = min(begin + room, int(starts[corpus.documents[document + 1]]))
    last = int(np.searchsorted(starts, end))  # the first sentence that starts after the span
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
    """Return ``length`` tokens from a random sentence of another document, or fewer if it is short."""
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
    """Truncate a pair to ``room`` tokens: the first text loses its beginning, the second its end."""
    first = min(len(pair.first), max(room - len(pair.second), room // 2))
    return SentencePair(pair.first[len(pair.first) - first :], pair.second[: room - first], pair.random)


SHORTEST = 16  # tokens of the shortest shortened pair, including special tokens


@dataclass(frozen=True)
class Vocabulary:
    """The special token ids of a tokenizer, and the token ids that continue a word."""

    start: int
    end: int
    padding: int
    mask: int
    ordinary: NDArray[np.int64]  # (n,) all ids except those of special tokens
    continues: NDArray[np.bool_]  # (id,) True if the token continues a word, such as "##ing"


@dataclass(frozen=True)
class PretrainingBatch:
    """The input and the labels of one training step; arrays are (row, position) unless noted otherwise."""

    masked: MaskedBatch
    segments: NDArray[np.int64]  # 0 for [CLS] A [SEP], 1 for B [SEP]
    real: NDArray[np.int64]  # attention mask: 1 for tokens, 0 for padding
    random: NDArray[np.int64]  # (row,) next-sentence label: 1 if the second text is from another document

    @property
    def count(self) -> int:
        """Return the number of tokens without padding."""
        return int(self.real.sum())


@dataclass(frozen=True)
class PretrainingBatches:
    """The batches of a corpus, one for each training step; an epoch uses every span once.

    A span is a run of tokens of a document, from which a sentence pair of ``length`` tokens, with special tokens, is
    drawn.
    """

    corpus: TokenCorpus
    vocabulary: Vocabulary
    length: int
    size: int
    seed: int
    short: float = 0.0
    whole_words: bool = False

    @cached_property
    def spans(self) -> NDArray[np.int64]:
        """Return the index of the first sentence of each span of the corpus, shape (span,).

        The array needs 8 bytes for every ``length`` tokens of the corpus. Raise UserError if there are no spans.
        """
        found = spans(self.corpus, self.length - SPECIAL)
        if not len(found):
            raise UserError(
                f"No document has two sentences that make a pair of {self.length} pieces. Raise [data] length, or bring"
                " other texts."
            )
        return found

    def __call__(self, step: int, rate: float) -> PretrainingBatch:
        """Return the batch of a step, with the masking rate ``rate`` (between 0 and 1)."""
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
        """Return the index of the first sentence of each span in the batch of a step.

        A span gives one sentence pair of the batch. Every epoch shuffles the spans in another order.
        """
        places = np.arange(step * self.size, (step + 1) * self.size)
        passes, within = np.divmod(places, len(self.spans))
        return [int(self.spans[self._order(int(p))[w]]) for p, w in zip(passes, within, strict=True)]

    def _order(self, number: int) -> NDArray[np.int64]:
        """Return the permutation of the spans in epoch ``number``; only the latest is cached."""
        kept: dict[int, NDArray[np.int64]] = self.__dict__.setdefault("_orders", {})
        if number not in kept:
            kept.clear()
            kept[number] = np.random.default_rng([self.seed, number, 1]).permutation(len(self.spans))
        return kept[number]

    def _laid_out(self, rows: list[SentencePair]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return token ids, segment ids and attention mask, each (row, position), padded to the longest row."""
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
