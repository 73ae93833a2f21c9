"""Pairs of texts, half of which belong together (arXiv:1810.04805, section 3.1).

A span is as much running text of one document as a pair has room for, from the start of a sentence. Where one of its
sentences ends, it is broken in two: A and what really follows it. For half of the pairs what follows is replaced by as
much text from another document. So neither length nor completeness tells the two kinds apart.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.corpus import TokenCorpus

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
