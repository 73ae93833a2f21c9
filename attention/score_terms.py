"""Decomposition of an attention score into terms, each (source of the query) × (source of the key).

A source is a summand of the residual stream, such as an embedding or the output of an earlier head. The terms sum to
the score.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.head_names import head_label
from attention.mask import BoolArray

Numbers = npt.NDArray[np.float64]

TOKEN, POSITION, SEGMENT, BIAS = "token", "position", "segment", "bias"
RELATIVE = "relative position"  # a bias that the attention adds to the score itself, as in T5 and ALiBi
BLOCKS = ("ffn ", "block ")


def head_source(part: str, layer: int, head: int) -> str:
    """Return the name of a head's output as a source, a summand of the residual stream.

    ``part`` is the stack of the head, "cross" for cross-attention.

    >>> head_source("encoder", 2, 1), head_source("cross", 2, 1)
    ('head 2-1', 'cross 2-1')
    """
    return f"{'cross' if part == 'cross' else 'head'} {head_label(layer, head)}"


def block_source(layer: int, attends: bool) -> str:
    """Return the name, as a source, of the part of a layer that is not its attention heads.

    That is the feed-forward part, or the whole layer if it has no attention (``attends`` is False). A source is a
    summand of the residual stream.

    >>> block_source(3, attends=True), block_source(3, attends=False)
    ('ffn 3', 'block 3')
    """
    return f"{BLOCKS[0] if attends else BLOCKS[1]}{layer}"


def is_block(source: str) -> bool:
    """Return True if a source is the output of a feed-forward part, or of a layer without attention."""
    return source.startswith(BLOCKS)


def source_order(source: str) -> tuple[int, int, int, int]:
    """Return a sort key: embeddings, then the layers in order, each with its heads before its block, then biases.

    >>> sorted(["bias", "ffn 0", "head 1-0", "head 0-2", "token"], key=source_order)
    ['token', 'head 0-2', 'ffn 0', 'head 1-0', 'bias']
    """
    fixed = {TOKEN: 0, POSITION: 1, SEGMENT: 2, BIAS: 4, RELATIVE: 5}
    if source in fixed:
        return fixed[source], 0, 0, 0
    numbers = [int(number) for number in re.findall("[0-9]+", source)]
    kind = ("head", "cross", "ffn", "block").index(source.partition(" ")[0])
    return 3, numbers[0], kind, numbers[-1]


@dataclass(frozen=True, eq=False)
class ScoreRow:
    """The settings that turn a query's dot products with the keys into scores, the input of the softmax.

    A dot product is multiplied by ``scale``. With a ``softcap`` c, the scaled product s becomes c · tanh(s / c)
    (arXiv:2408.00118). Then ``added`` (key,), such as ALiBi's bias, is added. ``visible`` (key,) is False for masked
    keys.
    """

    scale: float
    softcap: float | None
    added: Numbers
    visible: BoolArray

    def scores(self, products: Numbers) -> Numbers:
        """Return the scores (key,) from the dot products (key,) of the query with every key."""
        return self._cap(products * self.scale) + self.added

    def factors(self, products: Numbers) -> Numbers:
        """Return the factor by which scale and soft cap together multiply each dot product, shape (key,)."""
        scaled = products * self.scale
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(products == 0, self.scale, self._cap(scaled) / products)
        return np.asarray(factors, np.float64)

    def excess(self, products: Numbers, key: int) -> float:
        """Return the score of a key minus the mean score of the visible keys."""
        scores = self.scores(products)
        return float(scores[key] - scores[self.visible].mean())

    def _cap(self, scaled: Numbers) -> Numbers:
        return scaled if self.softcap is None else self.softcap * np.tanh(scaled / self.softcap)


@dataclass(frozen=True, eq=False)
class ScoreTerms:
    """The terms ``values`` of the score of a query and a key, (query source, key source) float64.

    ``means`` are the terms averaged over all visible keys of the same query.
    """

    query_sources: tuple[str, ...]
    key_sources: tuple[str, ...]
    values: Numbers
    means: Numbers

    @property
    def excess_terms(self) -> Numbers:
        """Return the terms minus their means over the visible keys; their sum is the score minus the mean score."""
        found: Numbers = self.values - self.means
        return found

    @property
    def total(self) -> float:
        """Return the sum of all terms, which is the score."""
        return float(self.values.sum())

    def of_query(self, source: str) -> float:
        """Return the contribution of a query source to the score minus the mean score: its summed ``excess_terms``."""
        return float(self.excess_terms[self.query_sources.index(source)].sum())

    def of_key(self, source: str) -> float:
        """Return the contribution of a key source to the score minus the mean score: its summed ``excess_terms``."""
        return float(self.excess_terms[:, self.key_sources.index(source)].sum())


def side_values(terms: Sequence[ScoreTerms], side: str) -> list[tuple[str, list[float]]]:
    """Return (source, contributions to the scores) for each source of the query or key vector.

    ``side`` is "query" or "key". Each source has a contribution for each of ``terms``, 0 if it is missing there. The
    source with the largest absolute contribution comes first.

    >>> one = ScoreTerms(("token",), ("token", "position"), np.array([[1.0, 3.0]]), np.array([[0.5, 1.0]]))
    >>> side_values([one], "query"), side_values([one], "key")
    ([('token', [2.5])], [('position', [2.0]), ('token', [0.5])])
    """
    values: dict[str, list[float]] = {}
    for at, one in enumerate(terms):
        sources, read = (one.query_sources, one.of_query) if side == "query" else (one.key_sources, one.of_key)
        for name in sources:
            values.setdefault(name, [0.0] * len(terms))[at] = read(name)
    return sorted(values.items(), key=lambda entry: -max(map(abs, entry[1])))


def decompose_score(query: dict[str, Numbers], keys: dict[str, Numbers], row: ScoreRow, key: int) -> ScoreTerms:
    """Split the score of ``key`` into a term for each pair of a query source and a key source.

    ``query`` has the contribution (channel,) of each source to the query vector, and ``keys`` those (key, channel) to
    the key vectors. A soft cap scales all terms of a key by the same factor. A bias that is added to the scores becomes
    a term of its own.

    >>> row = ScoreRow(1.0, None, np.zeros(2), np.ones(2, bool))
    >>> query = {"token": np.array([1.0, 0.0]), "bias": np.array([0.0, 2.0])}
    >>> terms = decompose_score(query, {"token": np.array([[3.0, 1.0], [1.0, 1.0]])}, row, 0)
    >>> terms.query_sources, terms.values.tolist(), terms.excess_terms.tolist()
    (('token', 'bias'), [[3.0], [2.0]], [[1.0], [0.0]])
    """
    rows, columns = (tuple(sorted(found, key=source_order)) for found in (query, keys))
    vectors = np.stack([query[name] for name in rows]).astype(np.float64)
    by_key = np.stack([keys[name] for name in columns]).astype(np.float64)
    scaled = by_key * row.factors(by_key.sum(axis=0) @ vectors.sum(axis=0))[:, None]
    values, means = vectors @ scaled[:, key].T, vectors @ scaled[:, row.visible].mean(axis=1).T
    if not row.added[row.visible].any():
        return ScoreTerms(rows, columns, values, means)
    values, means = (np.pad(found, ((0, 1), (0, 1))) for found in (values, means))
    values[-1, -1], means[-1, -1] = row.added[key], row.added[row.visible].mean()
    return ScoreTerms((*rows, RELATIVE), (*columns, RELATIVE), values, means)
