"""Token and text vectors: layer combination, pooling, cosine similarity, projection; and distances between heads."""

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
POOLINGS = ("mean", "words", "first", "max", "last")
BLOCK = 8192  # number of vectors per block of the nearest-neighbour search


def mix(levels: FloatArray, how: str = "last", level: int = 0) -> FloatArray:
    """Combine the hidden states of all levels to a vector per token, (level, token, channel) -> (token, channel).

    Level 0 is the embeddings, and level n the output of layer n. "last" and "second" take the output of the last and
    the second to last layer. "sum4" and "concat4" sum or concatenate the last four layers (arXiv:1810.04805, table 7),
    or fewer in a shallow model. "mean" is the mean over all layers, and "level" a single level. The embeddings are used
    by "level" only, and by "second" in a model with a single layer. "concat4" has up to 4 · channel channels. Raise
    ValueError for an unknown mix or level.

    >>> levels = np.arange(3.0).reshape(3, 1, 1)  # embeddings 0, first layer 1, second layer 2
    >>> [float(mix(levels, how)[0, 0]) for how in ("last", "second", "sum4", "mean", "level")]
    [2.0, 1.0, 3.0, 1.5, 0.0]
    """
    if how not in MIXES:
        raise ValueError(f'The layers cannot be mixed as "{how}"; use one of {", ".join(MIXES)}.')
    if how == "level":
        if not 0 <= level < len(levels):
            raise ValueError(
                gettext_lazy("There is no level {level}; levels are 0 to {last}.", level=level, last=len(levels) - 1)
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
    """Average each group of neighbouring tokens [start, stop), (token, channel) -> (group, channel).

    >>> merge(np.array([[1.0], [3.0], [8.0]]), [(0, 2), (2, 3)]).tolist()
    [[2.0], [8.0]]
    """
    return np.stack([vectors[start:stop].mean(axis=0) for start, stop in groups])


def pool(vectors: FloatArray, special: Sequence[bool], how: str = "mean") -> FloatArray:
    """Pool token vectors to a text vector, (token, channel) -> (channel,).

    "mean" averages all tokens, special tokens included, as in Sentence-BERT (arXiv:1908.10084), and "words" the other
    tokens only. "first" takes the first token, which is [CLS] in BERT (arXiv:1810.04805), and "last" the last token.
    "max" takes the maximum of each channel. Raise ValueError for an unknown pooling, and for "words" if the text has
    special tokens only.

    >>> vectors = np.array([[9.0, 0.0], [1.0, 2.0], [3.0, 4.0]])
    >>> [pool(vectors, (True, False, False), how).round(2).tolist() for how in ("mean", "words", "first", "max")]
    [[4.33, 2.0], [2.0, 3.0], [9.0, 0.0], [9.0, 4.0]]
    """
    if how not in POOLINGS:
        raise ValueError(f'Tokens cannot be pooled as "{how}"; use one of {", ".join(POOLINGS)}.')
    if how in ("first", "last", "max"):
        taken: FloatArray = vectors.max(axis=0) if how == "max" else vectors[0 if how == "first" else -1]
        return taken
    kept = vectors[~np.asarray(special, dtype=bool)] if how == "words" else vectors
    if not len(kept):
        raise ValueError(gettext_lazy("This text has special tokens only."))
    mean: FloatArray = kept.mean(axis=0)
    return mean


def cosine(rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Return cosine similarities, (row, channel) and (column, channel) -> (row, column), from -1 to 1.

    The cosine with a zero vector is 0.

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
    """Vectors projected to few dimensions, and the share of their total variance in each dimension, 0 to 1."""

    points: FloatArray  # (point, dimension)
    shares: FloatArray  # (dimension,), in descending order; all 0 if the points coincide


def pca(vectors: FloatArray, dimensions: int = 2) -> Projection:
    """Project points (point, channel) to their principal components (Pearson 1901).

    The sign of a component is arbitrary; its largest channel is made positive, so that the result is reproducible. If
    there are fewer points or channels than ``dimensions``, the remaining coordinates are 0.

    >>> flat = pca(np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]]))  # on one line
    >>> flat.points.round(6).tolist(), flat.shares.round(6).tolist()
    ([[-5.0, 0.0], [0.0, 0.0], [5.0, 0.0]], [1.0, 0.0])
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    points, channels = centred.shape
    few = min(dimensions, points, channels)
    if points < channels:  # the Gram matrix is smaller and has the same axes
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
    """Return the indices and cosines of the ``count`` vectors that are most similar to ``wanted``.

    ``vectors`` is (point, channel) and ``wanted`` (channel,). The most similar vector comes first; ties keep their
    order. Vectors are read in blocks, so ``vectors`` may be memory-mapped.

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
    """Return the cosine similarity of two words at each level, from arrays (level, channel); shape (level,).

    Level 0 is the embeddings, and level n the output of layer n.

    >>> along_levels(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 2.0]])).tolist()
    [1.0, 0.0]
    """
    products: FloatArray = np.clip((_unit(one) * _unit(other)).sum(axis=-1), -1.0, 1.0)
    return products


def different_words(words: FloatArray, names: Sequence[str]) -> FloatArray:
    """Return the mean cosine over all pairs of different words at each level, (level, word, channel) -> (level,).

    Level 0 is the embeddings, and level n the output of layer n. Words are different if their ``names`` are. The mean
    is a baseline for the cosine of the same word in different contexts (arXiv:1909.00512). Raise ValueError if all
    names are equal.

    >>> words = np.array([[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
    >>> different_words(words, ["a", "a", "b"]).tolist()  # the pairs a, b; a and a is no pair of different words
    [0.0]
    """
    unlike = np.array([[one != other for other in names] for one in names], dtype=bool)
    if not unlike.any():
        raise ValueError(gettext_lazy("The text has no two different words. Type a longer one."))
    return np.array([cosine(level, level)[unlike].mean() for level in words], dtype=np.float32)


MOST_WORK = 10**8  # limit on the number of logarithms; long texts with many heads use fewer tokens

Labels = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Divergence:
    """Jensen–Shannon divergences between the rows of all pairs of heads, summed over the queries of texts.

    The sums of several texts of a model can be added. Heads are numbered layer by layer.
    """

    sums: Numbers  # (head, head), bits
    tokens: int

    def __add__(self, other: Divergence) -> Divergence:
        return Divergence(self.sums + other.sums, self.tokens + other.tokens)

    def distances(self) -> Numbers:
        """Return Jensen–Shannon distances, shape (head, head), from 0 (equal attention) to 1 (no common key).

        A distance is the square root of the divergence averaged over the queries.
        """
        result: Numbers = np.sqrt(np.maximum(self.sums / max(1, self.tokens), 0))
        return result


def compare(trace: Trace, part: str | None = None) -> Divergence:
    """Compute the Jensen–Shannon divergences between all pairs of heads on a text; long texts use sampled queries."""
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
    """Return the Jensen–Shannon divergence of each pair of heads, (head, query, key) -> (head, head).

    Values are sums over the queries, each with 0 bits (equal rows) to 1 bit (no common key).

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
    """Project heads to the plane by classical multidimensional scaling of their distances (head, head).

    Return points (head, 2), and the share of the squared distances that two dimensions keep, 0 to 1. The axes have no
    meaning; the largest absolute coordinate of each is made positive (W. S. Torgerson, 1952, doi:10.1007/BF02288916).

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
    """Cluster heads by Ward's method into ``count`` clusters, (head, head) -> labels (head,).

    Each step merges the two clusters with the smallest increase of variance (doi:10.1080/01621459.1963.10500845).
    Labels are ordered by cluster size, largest first, then by the first head.

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
