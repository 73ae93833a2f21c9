"""Rows of tokens, token labels, and the surprisal of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from attention.mask import FloatArray
from attention.pictures import Grid

PIECE = "##"  # prefix of a subword that continues a word, as in BERT's vocabulary


BYTE = "<0x"  # prefix of byte tokens, which encode a part of a character


def label(text: str, goes_on: bool = False, unknown: str = "") -> str:
    """Return the label of a token for axes and files.

    ``goes_on`` adds ## for a token that continues a word; ``unknown`` is the tokenizer's mark for an unknown word,
    such as [UNK], or "".

    >>> label("ing", goes_on=True), label("\u732b", unknown="[UNK]"), label("\u732b 2/3", unknown="<0x8C>")
    ('##ing', '\u732b [UNK]', '\u732b 2/3')
    """
    return f"{PIECE if goes_on else ''}{text}{f' {unknown}' if is_out_of_vocabulary(unknown) else ''}"


def is_out_of_vocabulary(unknown: str) -> bool:
    """Return True if ``unknown`` is a mark for unknown words, such as [UNK], and not a byte token."""
    return bool(unknown) and BYTE not in unknown


def word_runs(words: Sequence[int | None], segments: Sequence[int]) -> list[tuple[int, int]]:
    """Return (start, stop) of each run of tokens of the same word and segment.

    A special token is a run of length 1.

    >>> word_runs((None, 0, 0, 0, None), (0, 0, 0, 1, 1))
    [(0, 1), (1, 3), (3, 4), (4, 5)]
    """
    names = [(at, None) if word is None else (segments[at], word) for at, word in enumerate(words)]
    runs, start = [], 0
    for _, run in groupby(names):
        stop = start + len(list(run))
        runs.append((start, stop))
        start = stop
    return runs


@dataclass(frozen=True)
class TokenRow:
    """A sequence of tokens; every field has an entry per token.

    >>> row = TokenRow(("[CLS]", "play", "ing"), (101, 2377, 2075), (None, 0, 0), (0, 0, 0), (None, (0, 4), (4, 7)))
    >>> len(row), row.special
    (3, (True, False, False))
    """

    # Text for display, without the tokenizer's markers; unknown tokens and byte tokens show the original text.
    pieces: tuple[str, ...]
    ids: tuple[int, ...]  # indices into the model's vocabulary
    words: tuple[int | None, ...]  # word number of each token; None for special tokens
    segments: tuple[int, ...]  # 0 for the first text, 1 for the second of a pair
    spans: tuple[tuple[int, int] | None, ...]  # (start, end) in the token's text, in characters, or None
    # Token that the model read instead of the text: "[UNK]", a byte token such as "<0xE7>", or "" if they are equal.
    unknown: tuple[str, ...] = ()

    grid: Grid | None = None  # grid of image patches among the tokens

    def __post_init__(self) -> None:
        if not self.unknown:
            object.__setattr__(self, "unknown", ("",) * len(self.pieces))
        fields = (self.pieces, self.ids, self.words, self.segments, self.spans, self.unknown)
        lengths = {len(field) for field in fields}
        if len(lengths) != 1:
            raise ValueError(
                f"A token row has fields of {sorted(lengths)} entries; each token needs one of every field."
            )

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def special(self) -> tuple[bool, ...]:
        """Return a flag for each token: True for special tokens such as [CLS] or </s>."""
        return tuple(word is None for word in self.words)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the label of each token, with marks for subwords and for unknown words."""
        return tuple(label(self.pieces[at], self.goes_on(at), self.unknown[at]) for at in range(len(self)))

    def unknown_words(self) -> tuple[int, int]:
        """Return (number of words with an out-of-vocabulary token, number of words).

        >>> TokenRow(("my", "\u732b"), (9, 0), (0, 1), (0, 0), ((0, 2), (3, 4)), ("", "[UNK]")).unknown_words()
        (1, 2)
        """
        places = [(self.segments[at], self.words[at], self.unknown[at]) for at in range(len(self))]
        words = [(segment, word, unknown) for segment, word, unknown in places if word is not None]
        return len({place[:2] for place in words if is_out_of_vocabulary(place[2])}), len(
            {place[:2] for place in words}
        )

    def unreadable(self) -> tuple[int, ...]:
        """Return the positions of unknown tokens if they make up at least a third of a segment, else ().

        >>> row = TokenRow(("my", "big", "\u732b"), (9, 8, 0), (0, 1, 2), (0, 0, 0), (None,) * 3, ("", "", "[UNK]"))
        >>> row.unreadable()
        (0, 1, 2)
        """
        for segment in sorted(set(self.segments)):
            text = [at for at in range(len(self)) if self.segments[at] == segment and self.words[at] is not None]
            if text and 3 * sum(is_out_of_vocabulary(self.unknown[at]) for at in text) >= len(text):
                return tuple(text)
        return ()

    def goes_on(self, at: int) -> bool:
        """Return True if the token ``at`` continues the word of the token before it.

        >>> row = TokenRow(("a", "play", "ing"), (9, 2377, 2075), (0, 1, 1), (0, 0, 0), (None,) * 3)
        >>> [row.goes_on(at) for at in range(3)]
        [False, False, True]
        """
        if at == 0 or self.words[at] is None:
            return False
        return (self.segments[at - 1], self.words[at - 1]) == (self.segments[at], self.words[at])


def bits(log_probabilities: FloatArray) -> FloatArray:
    """Convert natural log-probabilities of any shape to surprisal in bits.

    A token of probability 1 has 0 bits, and a token of probability 0.5 has 1 bit.

    >>> bits(np.log(np.array([1.0, 0.5, 0.25]))).tolist()
    [0.0, 1.0, 2.0]
    """
    found: FloatArray = -log_probabilities / np.log(2) + 0.0
    return found


def sum_over_words(log_probabilities: FloatArray, words: Sequence[object]) -> tuple[list[tuple[int, int]], FloatArray]:
    """Sum log-probabilities (token,) over the tokens of each word; return token runs and sums (word,).

    ``words`` has an entry per token, which is equal for the tokens of a word. A token run is (start, stop). The sum is
    the word's log-probability if each token was predicted without the later tokens of the word (arXiv:2305.10588).

    >>> runs, sums = sum_over_words(np.array([-1.0, -2.0, -4.0]), ["a", "a", "b"])
    >>> runs, sums.tolist()
    ([(0, 2), (2, 3)], [-3.0, -4.0])
    """
    starts = [at for at in range(len(words)) if at == 0 or words[at] != words[at - 1]]
    if not starts:
        return [], np.zeros(0, np.float32)
    sums: FloatArray = np.add.reduceat(log_probabilities, starts)
    return list(zip(starts, [*starts[1:], len(words)], strict=True)), sums


def pseudo_perplexity(log_probabilities: FloatArray) -> float:
    """Return the pseudo-perplexity of a text from log-probabilities of its tokens.

    It is exp of the mean negative log-probability, and at least 1. A model that guesses uniformly among k tokens has
    pseudo-perplexity k (arXiv:1910.14659, section 2.3). Raise ValueError if the text has no tokens.

    >>> round(pseudo_perplexity(np.log(np.array([0.25, 0.25, 0.25]))), 6)
    4.0
    """
    if log_probabilities.size == 0:
        raise ValueError("A text without pieces has no pseudo-perplexity; 0 logarithms came, at least 1 is needed.")
    return float(np.exp(-log_probabilities.mean(dtype=np.float64)))
