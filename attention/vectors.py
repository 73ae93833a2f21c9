"""Vectors of tokens, words and texts: mixes of layers, pooling, how alike they are, and the axes of a flat picture.

Levels count what a model holds of each token: level 0 is what enters the first layer (the embeddings), level i what
comes out of the i-th layer, so a model of 6 layers has 7 levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray
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
