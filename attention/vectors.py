"""Vectors of tokens and texts: layers, pooling, cosine similarity, projection; distances between heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray
from attention.measures import as_shares, entropy
from attention.roles import sampled_queries
from attention.trace import Trace
from i18n import gettext_lazy

MIXES = ("last", "second", "sum4", "concat4", "mean", "level")
POOLINGS = ("mean", "words", "first", "max")
BLOCK = 8192  # vectors compared at once while the nearest ones are looked for


def mix(levels: FloatArray, how: str = "last", level: int = 0) -> FloatArray:
    """One vector per token from all levels, (level, token, channel) -> (token, channel), or (token, 4 · channel).

    "last": after the last layer; "second": after the one before it; "sum4" and "concat4": the last four layers added
    up, or one after the other (arXiv:1810.04805, table 7), fewer where the model has fewer; "mean": the mean over all
    layers; "level": one level. The embeddings count as a layer in the last case only. Raises ValueError.

    >>> levels = np.arange(3.0).reshape(3, 1, 1)  # embeddings 0, first layer 1, second layer 2
    >>> [float(mix(levels, how)[0, 0]) for how in ("last", "second", "sum4", "mean", "level")]
    [2.0, 1.0, 3.0, 1.5, 0.0]
    """
    if how not in MIXES:
        raise ValueError(f'The layers cannot be mixed as "{how}"; use one of {", ".join(MIXES)}.')
    if how == "level":
        if not 0 <= level < len(levels):
            raise ValueError(
                gettext_lazy(
                    "Level {level} was asked for; there are levels 0 to {last}.", level=level, last=len(levels) - 1
                )
            )
        one: FloatArray = levels[level]
        return one
    if how in ("last", "second"):
        end: FloatArray = levels[-1 if how == "last" else -2]
        return end
    four = levels[max(1, len(levels) - 4) :]
    if how == "concat4":
        return np.concatenate(list(four), axis=-1)
    made: FloatArray = four.sum(axis=0) if how == "sum4" else levels[1:].mean(axis=0)
    return made


def merge(vectors: FloatArray, groups: Sequence[tuple[int, int]]) -> FloatArray:
    """The mean over each group of neighbours, (token, channel) and [start, stop) pairs -> (group, channel).

    >>> merge(np.array([[1.0], [3.0], [8.0]]), [(0, 2), (2, 3)]).tolist()
    [[2.0], [8.0]]
    """
    return np.stack([vectors[start:stop].mean(axis=0) for start, stop in groups])


def pool(vectors: FloatArray, special: Sequence[bool], how: str = "mean") -> FloatArray:
    """One vector for a text, (token, channel) -> (channel,).

    "mean": over all its tokens, special ones too, as sentence-BERT does (arXiv:1908.10084); "words": over those that
    are not special; "first": the first token, which is [CLS] in BERT (arXiv:1810.04805); "max": each channel's
    largest value over all tokens. Raises ValueError for another word, and for "words" of a text without any.

    >>> vectors = np.array([[9.0, 0.0], [1.0, 2.0], [3.0, 4.0]])
    >>> [pool(vectors, (True, False, False), how).round(2).tolist() for how in ("mean", "words", "first", "max")]
    [[4.33, 2.0], [2.0, 3.0], [9.0, 0.0], [9.0, 4.0]]
    """
    if how not in POOLINGS:
        raise ValueError(f'Tokens cannot be pooled as "{how}"; use one of {", ".join(POOLINGS)}.')
    if how in ("first", "max"):
        taken: FloatArray = vectors[0] if how == "first" else vectors.max(axis=0)
        return taken
    kept = vectors[~np.asarray(special, dtype=bool)] if how == "words" else vectors
    if not len(kept):
        raise ValueError(gettext_lazy("This text has special tokens only, so there are no words to take the mean of."))
    mean: FloatArray = kept.mean(axis=0)
    return mean


def cosine(rows: FloatArray, columns: FloatArray) -> FloatArray:
    """How alike directions are, (row, channel) and (column, channel) -> (row, column), from -1 to 1.

    A vector of zeros has no direction; its cosine is given as 0.

    >>> cosine(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[2.0, 0.0], [3.0, 3.0], [0.0, -1.0]])).round(2).tolist()
    [[1.0, 0.71, 0.0], [0.0, 0.0, 0.0]]
    """
    products: FloatArray = np.clip(_unit(rows) @ _unit(columns).T, -1.0, 1.0)
    return products


def _unit(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: FloatArray = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit


@dataclass(frozen=True, eq=False)
class Projection:
    """Points in few dimensions, and the share of the whole variance along each of them, from 0 to 1."""

    points: FloatArray  # (point, dimension)
    shares: FloatArray  # (dimension,), falling; all 0 where the points are one


def pca(vectors: FloatArray, dimensions: int = 2) -> Projection:
    """The directions in which the points differ most (principal components; Pearson 1901), (point, channel).

    A direction's sign is arbitrary; here its largest channel is positive, so that the same points give the same
    picture. With fewer points or channels than ``dimensions`` the others are 0.

    >>> flat = pca(np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]]))  # on one line
    >>> flat.points.round(6).tolist(), flat.shares.round(6).tolist()
    ([[-5.0, 0.0], [0.0, 0.0], [5.0, 0.0]], [1.0, 0.0])
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    points, channels = centred.shape
    few = min(dimensions, points, channels)
    if points < channels:  # the same axes from the smaller of two matrices
        sizes, mixing = np.linalg.eigh(centred @ centred.T)
        axes = centred.T @ mixing[:, ::-1][:, :few]
        lengths = np.linalg.norm(axes, axis=0)
        axes = np.divide(axes, lengths, out=np.zeros_like(axes), where=lengths > 1e-9 * max(lengths.max(), 1e-300))
    else:
        sizes, axes = np.linalg.eigh(centred.T @ centred)
        axes = axes[:, ::-1][:, :few]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(few)])
    found, shares = np.zeros((points, dimensions)), np.zeros(dimensions)
    found[:, :few] = centred @ (axes * signs)
    total = float(np.square(centred).sum())
    if total > 0:
        shares[:few] = np.clip(sizes[::-1][:few], 0, None) / total
    return Projection(found.astype(np.float32), shares.astype(np.float32))


def nearest_neighbors(
    vectors: FloatArray, wanted: FloatArray, count: int, block: int = BLOCK
) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """The ``count`` vectors (point, channel) most alike to ``wanted`` (channel,): their places and cosines, best first.

    Read in blocks, so that ``vectors`` may be a file mapped into memory. Equals come in their order.

    >>> places, cosines = nearest_neighbors(np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]]), np.array([1.0, 0.0]), 2)
    >>> places.tolist(), cosines.round(2).tolist()
    ([1, 2], [1.0, 0.71])
    """
    likeness = np.concatenate(
        [cosine(np.asarray(vectors[at : at + block]), wanted[None])[:, 0] for at in range(0, len(vectors), block)]
    )
    best = np.argsort(-likeness, kind="stable")[:count]
    return best, likeness[best]


def along_levels(one: FloatArray, other: FloatArray) -> FloatArray:
    """The cosine of two tokens or words at each level, both (level, channel) -> (level,).

    >>> along_levels(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 2.0]])).tolist()
    [1.0, 0.0]
    """
    products: FloatArray = np.clip((_unit(one) * _unit(other)).sum(axis=-1), -1.0, 1.0)
    return products


def different_words(words: FloatArray, names: Sequence[str]) -> FloatArray:
    """The mean cosine over all pairs of words with different names, (level, word, channel) -> (level,).

    What two words have in common only because they are in one model: the baseline that a word's likeness to itself in
    another text is to be held against (arXiv:1909.00512). Raises ValueError where no two names differ.

    >>> words = np.array([[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
    >>> different_words(words, ["a", "a", "b"]).tolist()  # the pairs a, b; a and a is no pair of different words
    [0.0]
    """
    unlike = np.array([[one != other for other in names] for one in names], dtype=bool)
    if not unlike.any():
        raise ValueError(gettext_lazy("There are no two different words to compare."))
    return np.array([cosine(level, level)[unlike].mean() for level in words], dtype=np.float32)


MOST_WORK = 10**8  # weights whose logarithm is taken; of long texts and many heads fewer tokens are compared

Labels = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Divergence:
    """Jensen–Shannon divergences between all heads, summed over tokens; several texts of one model add up.

    Heads are numbered layer by layer.
    """

    sums: Numbers  # (head, head), bits
    tokens: int

    def __add__(self, other: Divergence) -> Divergence:
        return Divergence(self.sums + other.sums, self.tokens + other.tokens)

    def distances(self) -> Numbers:
        """Jensen–Shannon distances, (head, head), 0 for the same attention to 1 for none in common."""
        result: Numbers = np.sqrt(np.maximum(self.sums / max(1, self.tokens), 0))
        return result


def compare(trace: Trace, part: str | None = None) -> Divergence:
    """Every head's attention to one text against every other's."""
    row, _ = trace.token_rows(part)
    records = trace.shares(part)
    heads = sum(record.heads for record in records)
    rows = sampled_queries(row)
    most = max(1, 2 * MOST_WORK // (heads**2 * records[0].keys))
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]
    maps = np.stack([as_shares(record.weights(head, rows)) for record in records for head in range(record.heads)])
    return Divergence(divergences(maps), len(rows))


def divergences(maps: FloatArray) -> Numbers:
    """Jensen–Shannon divergence of every pair of heads, (head, query, key) -> (head, head), bits summed over queries.

    >>> divergences(np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.0]]])).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    alone = entropy(maps).sum(axis=1)
    result = np.zeros((len(maps), len(maps)))
    for head in range(len(maps)):
        both = entropy((maps[head] + maps[head + 1 :]) / 2).sum(axis=1)
        result[head, head + 1 :] = both - (alone[head] + alone[head + 1 :]) / 2
    result += result.T
    return np.maximum(result, 0)


def flat(distances: Numbers) -> tuple[Numbers, float]:
    """Classical multidimensional scaling (W. S. Torgerson, 1952, doi:10.1007/BF02288916): (head, head) -> (head, 2).

    The share of the squared distances that two dimensions keep, 0 to 1, comes with it. Axes have no meaning; of each,
    the side with the largest coordinate is made the positive one.

    >>> points, kept = flat(np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]]))
    >>> bool(np.isclose(np.linalg.norm(points[0] - points[2]), 5)), round(kept, 6)
    (True, 1.0)
    """
    size = len(distances)
    centre = np.eye(size) - np.full((size, size), 1 / size)
    values, vectors = np.linalg.eigh(-0.5 * centre @ (distances.astype(np.float64) ** 2) @ centre)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    points = np.zeros((size, 2))
    points[:, : min(2, size)] = (vectors * np.sqrt(values))[:, :2]
    largest = np.abs(points).argmax(axis=0)
    points *= np.where(points[largest, [0, 1]] < 0, -1, 1)
    total = float(values.sum())
    return points, float(values[:2].sum()) / total if total > 0 else 1.0


def groups(distances: Numbers, count: int) -> Labels:
    """Ward's method (doi:10.1080/01621459.1963.10500845): each head its own group, until ``count`` are left.

    Joined are the two whose union spreads least. Groups (head,) are numbered by size, the largest 0; of equals, the
    one with the first head comes first.

    >>> groups(np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 9.0], [9.0, 9.0, 0.0]]), 2).tolist()
    [0, 0, 1]
    """
    squares = distances.astype(np.float64) ** 2
    np.fill_diagonal(squares, np.inf)
    sizes = np.ones(len(squares))
    members = {head: [head] for head in range(len(squares))}
    while len(members) > max(1, count):
        one, other = sorted(int(at) for at in np.unravel_index(squares.argmin(), squares.shape))
        total = sizes[one] + sizes[other] + sizes
        near = (sizes[one] + sizes) * squares[one] + (sizes[other] + sizes) * squares[other]
        joined = (near - sizes * squares[one, other]) / total
        squares[one] = squares[:, one] = joined
        squares[other] = squares[:, other] = squares[one, one] = np.inf
        sizes[one] += sizes[other]
        members[one] += members.pop(other)
    labels = np.zeros(len(squares), dtype=np.intp)
    for number, heads in enumerate(sorted(members.values(), key=lambda heads: (-len(heads), min(heads)))):
        labels[heads] = number
    return labels
