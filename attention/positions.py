"""How a Transformer is told where a token stands: position vectors, and what distance adds to a score.

Vectors are added to the word vectors (sinusoidal: arXiv:1706.03762, section 3.5; learned ones: the model's own table).
Distances act on the scores: rotary (arXiv:2104.09864), ALiBi (arXiv:2108.12409), T5's bias (arXiv:1910.10683). Numbers
are float64 here, so that the laws hold to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

BASE = 10_000.0  # of the sinusoidal vectors and of rotary positions, in both papers
BUCKETS, FARTHEST = 32, 128  # of T5's bias; tokens


def frequencies(dimensions: int, base: float = BASE) -> Numbers:
    """ω_i = base^(-2i/d) in radians per token, (pair,): from 1 down to almost 1/base (arXiv:1706.03762, section 3.5).

    Raises ValueError for an odd or empty number of dimensions, which has no whole pairs.

    >>> frequencies(4).tolist()
    [1.0, 0.01]
    """
    if dimensions < 2 or dimensions % 2:
        raise ValueError(f"{dimensions} dimensions came; sine and cosine come in pairs, so an even number is needed.")
    result: Numbers = base ** (-np.arange(0, dimensions, 2) / dimensions)
    return result


def sinusoidal(length: int, dimensions: int, base: float = BASE) -> Numbers:
    """PE(pos, 2i) = sin(pos·ω_i), PE(pos, 2i+1) = cos(pos·ω_i), (position, dimension), between -1 and 1.

    Raises ValueError for an odd number of dimensions.

    >>> sinusoidal(2, 4).round(2).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.84, 0.54, 0.01, 1.0]]
    """
    angles = np.arange(length)[:, None] * frequencies(dimensions, base)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, dimensions)


def halves(vectors: Numbers) -> Numbers:
    """The same columns with all sines first, then all cosines, as translation models such as Marian store them.

    >>> halves(np.array([[1.0, 2, 3, 4]])).tolist()
    [[1.0, 3.0, 2.0, 4.0]]
    """
    return np.concatenate([vectors[:, 0::2], vectors[:, 1::2]], axis=1)


def shift_matrix(shift: int, dimensions: int, base: float = BASE) -> Numbers:
    """M_k with PE(pos + k) = M_k · PE(pos) for every position, (dimension, dimension): one rotation by k·ω_i a pair.

    That it exists is why the authors chose sines (arXiv:1706.03762, section 3.5). By the sums of angles
    sin((pos + k)ω) = cos(kω) sin(pos·ω) + sin(kω) cos(pos·ω) and its like for the cosine.

    >>> shift_matrix(0, 2).tolist()
    [[1.0, 0.0], [-0.0, 1.0]]
    """
    angles = shift * frequencies(dimensions, base)
    even = np.arange(0, dimensions, 2)
    matrix = np.zeros((dimensions, dimensions))
    matrix[even, even] = matrix[even + 1, even + 1] = np.cos(angles)
    matrix[even, even + 1] = np.sin(angles)
    matrix[even + 1, even] = -np.sin(angles)
    return matrix


def shift_error(vectors: Numbers, shift: int, matrix: Numbers) -> float:
    """Largest difference between PE(pos + k) and M_k · PE(pos) over all positions that have both.

    >>> shift_error(sinusoidal(9, 6), 3, shift_matrix(3, 6)) < 1e-14
    True
    """
    later, earlier = vectors[shift:], vectors[: len(vectors) - shift]
    return float(np.abs(later - earlier @ matrix.T).max(initial=0))


@dataclass(frozen=True, eq=False)
class ByDistance:
    """Dot products of two positions' vectors by how far apart they stand, each (distance,), from distance 0."""

    mean: Numbers
    lowest: Numbers
    highest: Numbers


def by_distance(vectors: Numbers) -> ByDistance:
    """Dot products of all pairs of rows of (position, dimension), gathered by distance.

    For sinusoidal vectors lowest and highest are equal: sin a sin b + cos a cos b = cos(a - b).

    >>> by_distance(np.array([[1.0, 0], [2, 0], [0, 5]])).mean.round(2).tolist()
    [10.0, 1.0, 0.0]
    """
    products = vectors @ vectors.T
    diagonals = [np.diagonal(products, distance) for distance in range(len(vectors))]

    def gather(what: Callable[[Numbers], float]) -> Numbers:
        return np.array([what(diagonal) for diagonal in diagonals])

    return ByDistance(gather(np.mean), gather(np.min), gather(np.max))


def neighbours(vectors: Numbers) -> Numbers:
    """Cosine of each position's vector and the next one's, (position - 1,), between -1 and 1; 0 beside a zero vector.

    >>> neighbours(np.array([[1.0, 0], [2, 0], [0, 5]])).tolist()
    [1.0, 0.0]
    """
    norms = np.linalg.norm(vectors, axis=1)
    products = (vectors[:-1] * vectors[1:]).sum(axis=1)
    sizes = norms[:-1] * norms[1:]
    result: Numbers = np.divide(products, sizes, out=np.zeros_like(products), where=sizes > 0)
    return result


def closest_rows(vectors: Numbers) -> tuple[float, int, int]:
    """The two most alike rows: their Euclidean distance and their positions. Zero: two positions cannot be told apart.

    Of pairs that are equally far apart, up to rounding, the first. Raises ValueError for fewer than two rows.

    >>> closest_rows(np.array([[0.0, 0], [3, 4], [3, 5]]))
    (1.0, 1, 2)
    """
    if len(vectors) < 2:
        raise ValueError(f"{len(vectors)} positions came; two are needed to compare.")
    squares = (vectors**2).sum(axis=1)
    between = squares[:, None] + squares[None, :] - 2 * vectors @ vectors.T
    between[np.tril_indices(len(vectors))] = np.inf
    rounding = 1e-14 * float(squares.max())
    first, second = (int(place) for place in np.argwhere(between <= between.min() + rounding)[0])
    # Taken again from the rows: the sum of squares above loses digits where they are nearly equal.
    return float(np.linalg.norm(vectors[first] - vectors[second])), first, second


def rotary_score(distances: Counts, omega: Numbers) -> Numbers:
    """Score of a query with a key equal to it, as a share of that at distance 0, (distance,), between -1 and 1.

    Rotary positions turn channel pair i of a query at m and of a key at n by m·ω_i and n·ω_i, so that their product
    depends on the distance only: the sum of cos((m - n)·ω_i) when all pairs are of one size (arXiv:2104.09864,
    section 3.2.2).

    >>> rotary_score(np.array([0, 3]), np.array([np.pi / 3])).round(2).tolist()
    [1.0, -1.0]
    """
    result: Numbers = np.cos(distances[:, None] * omega).mean(axis=1)
    return result


def rotary_bound(distances: Counts, omega: Numbers) -> Numbers:
    """What bounds a score, up to a factor: the mean of |S_i|; S_i sums e^(i·distance·ω_j) over j < i; (distance,).

    As a share of its value at distance 0 (arXiv:2104.09864, section 3.4.3).

    >>> rotary_bound(np.array([0, 1]), np.array([np.pi, 2 * np.pi])).round(2).tolist()
    [1.0, 0.33]
    """
    sums = np.abs(np.exp(1j * distances[:, None] * omega).cumsum(axis=1))
    result: Numbers = sums.mean(axis=1) / (np.arange(len(omega)) + 1).mean()
    return result


def alibi_slopes(heads: int) -> Numbers:
    """What each head takes from a score per token of distance, (head,): 2^(-8h/n) for h = 1..n (arXiv:2108.12409).

    For a number of heads that is no power of two as in the authors' code: the slopes of the next lower power, then
    every second one of the next higher. Raises ValueError for no heads.

    >>> alibi_slopes(8)[:3].tolist(), alibi_slopes(3).round(4).tolist()
    ([0.5, 0.25, 0.125], [0.0625, 0.0039, 0.25])
    """
    if heads < 1:
        raise ValueError(f"{heads} heads came; at least one is needed.")
    whole = 2 ** int(np.log2(heads))
    slopes = 2.0 ** (-8 * np.arange(1, whole + 1) / whole)
    between = 2.0 ** (-8 * np.arange(1, 2 * whole + 1, 2) / (2 * whole))
    result: Numbers = np.concatenate([slopes, between[: heads - whole]])
    return result


def t5_buckets(offsets: Counts, buckets: int = BUCKETS, farthest: int = FARTHEST, both_ways: bool = True) -> Counts:
    """Which learned number a distance gets, (offset,); ``offsets`` are key minus query, negative for earlier keys.

    Half of a side's buckets are one distance each, the others grow logarithmically up to ``farthest``, beyond which
    all share the last (arXiv:1910.10683, section 2.1, and its code). ``both_ways``: earlier and later keys have half
    of the buckets each, as in an encoder; else later keys share bucket 0 with the query itself.

    >>> t5_buckets(np.array([0, -1, 1, -8, -200])).tolist()
    [0, 1, 17, 8, 15]
    """
    side = buckets // 2 if both_ways else buckets
    far = np.abs(offsets) if both_ways else np.maximum(-offsets, 0)
    exact = side // 2
    # In float32, as the models' own code: a distance on the edge of two buckets falls where it falls there.
    steps = np.log(np.maximum(far, 1).astype(np.float32) / exact) / np.log(farthest / exact) * (side - exact)
    grown = np.minimum(exact + steps.astype(np.int64), side - 1)
    found: Counts = np.where(far < exact, far, grown) + (side * (offsets > 0) if both_ways else 0)
    return found
