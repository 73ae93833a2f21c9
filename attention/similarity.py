"""The cosine similarity of two texts as a table of token pairs that sums to it, for every kind of pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray

Numbers = npt.NDArray[np.float64]

MEAN, WORDS, FIRST, MAX, LAST = "mean", "words", "first", "max", "last"
POOLINGS = (MEAN, WORDS, FIRST, MAX, LAST)


def pooling_shares(vectors: FloatArray, special: Sequence[bool], pooling: str) -> Numbers:
    """Split a text's pooled vector into a summand for each token, (token, channel) float64.

    "mean" averages all tokens, "words" all but the special tokens, and "first" and "last" take a single token. With
    "max", each channel belongs to the token with the largest value, the first in a tie, and is 0 for all other tokens.

    >>> vectors = np.array([[9.0, 0.0], [1.0, 2.0]], np.float32)
    >>> pooling_shares(vectors, (True, False), "max").tolist()
    [[9.0, 0.0], [0.0, 2.0]]
    """
    tokens = len(vectors)
    if pooling == MAX:
        weights = (np.arange(tokens)[:, None] == vectors.argmax(axis=0)).astype(np.float64)
        largest: Numbers = weights * vectors
        return largest
    chosen = np.ones(tokens)
    if pooling == WORDS:
        chosen = 1.0 - np.asarray(special, np.float64)
    elif pooling != MEAN:
        chosen = np.zeros(tokens)
        chosen[0 if pooling == FIRST else -1] = 1
    found: Numbers = (chosen / max(1.0, chosen.sum()))[:, None] * vectors
    return found


Runs = Sequence[tuple[int, int]]  # (start, stop) of neighbouring tokens, without gaps


def sum_runs(table: Numbers, rows: Runs, columns: Runs) -> Numbers:
    """Sum a table of tokens over the tokens of each word, (token of A, token of B) -> (word of A, word of B).

    >>> sum_runs(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), [(0, 1), (1, 3)], [(0, 1), (1, 2)]).tolist()
    [[1.0, 2.0], [8.0, 10.0]]
    """
    starts = [[start for start, _stop in runs] for runs in (rows, columns)]
    found: Numbers = np.add.reduceat(np.add.reduceat(table, starts[0], axis=0), starts[1], axis=1)
    return found


@dataclass(frozen=True, eq=False)
class SimilarityTable:
    """The cosine similarity of two texts, and ``table`` (token of A, token of B), whose entries sum to it."""

    cosine: float
    table: Numbers

    def special_share(self, special_a: Sequence[bool], special_b: Sequence[bool]) -> float:
        """Return the part of the cosine similarity that comes from pairs with a special token."""
        words = np.outer(~np.asarray(special_a, bool), ~np.asarray(special_b, bool))
        return float(self.table[~words].sum())


def similarity_table(shares_a: Numbers, shares_b: Numbers) -> SimilarityTable:
    """Return the cosine similarity of two pooled vectors and its split over token pairs.

    The arguments are the contributions (token, channel) of each text. The cosine with a zero vector is 0.

    >>> found = similarity_table(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0]]))
    >>> round(found.cosine, 3), found.table.round(3).tolist()
    (0.707, [[0.707], [0.0]])
    """
    lengths = np.linalg.norm(shares_a.sum(axis=0)) * np.linalg.norm(shares_b.sum(axis=0))
    table = shares_a @ shares_b.T / lengths if lengths else np.zeros((len(shares_a), len(shares_b)))
    whole = shares_a.sum(axis=0) @ shares_b.sum(axis=0)
    return SimilarityTable(float(whole / lengths) if lengths else 0.0, table)
