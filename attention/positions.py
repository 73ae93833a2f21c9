"""Positional encodings, and the test of the order of words."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray
from attention.record import AnyRecord
from attention.tokens import TokenRow
from i18n import gettext_lazy

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


Unit = tuple[int, int]  # (start, stop) of one word's pieces


def word_stretches(row: TokenRow) -> list[list[Unit]]:
    """The words between special tokens, stretch by stretch; those of one stretch may change places.

    >>> row = TokenRow(("[CLS]", "play", "ing", "chess", "[SEP]"), (1, 5, 6, 7, 2), (None, 0, 0, 1, None), (0,) * 5,
    ...                (None, (0, 4), (4, 7), (8, 13), None))
    >>> word_stretches(row)
    [[(1, 3), (3, 4)]]
    """
    found: list[list[Unit]] = []
    inside, start = False, 0
    for (segment, word), run in groupby(zip(row.segments, row.words, strict=True)):
        stop = start + len(list(run))
        if word is None:
            inside = False
        else:
            if not inside or row.segments[start - 1] != segment:
                found.append([])
            found[-1].append((start, stop))
            inside = True
        start = stop
    return found


def words(row: TokenRow) -> list[Unit]:
    """All words in their order."""
    return [unit for stretch in word_stretches(row) for unit in stretch]


def shuffle_tokens(row: TokenRow, seed: int) -> tuple[int, ...]:
    """The tokens in a shuffled order: entry ``i`` is the token that then stands at place ``i``.

    The pieces of a word stay together, special tokens stay where they are, and of a pair each text is shuffled for
    itself. The same seed gives the same order; it is never the text as it was. Raises ValueError when no other order
    reads differently.
    """
    parts = word_stretches(row)
    if not any(len({row.ids[slice(*unit)] for unit in stretch}) > 1 for stretch in parts):
        raise ValueError(
            gettext_lazy("This text has no two different words that could change places. Type a longer one.")
        )
    dice = random.Random(seed)
    while True:
        mixed = [dice.sample(stretch, len(stretch)) for stretch in parts]
        order = _order(row, parts, mixed)
        if [row.ids[at] for at in order] != list(row.ids):
            return order


def swap_words(row: TokenRow, first: int, second: int) -> tuple[int, ...]:
    """The tokens with two words in each other's place, counted as ``words`` counts them.

    Raises ValueError for words that are not there, read alike, or stand in different texts of a pair.
    """
    parts = word_stretches(row)
    every = [unit for stretch in parts for unit in stretch]
    if first == second or not all(0 <= word < len(every) for word in (first, second)):
        raise ValueError(
            gettext_lazy(
                "Words {first} and {second} cannot be swapped; two of the words 0 to {last} can.",
                first=first,
                second=second,
                last=len(every) - 1,
            )
        )
    if row.ids[slice(*every[first])] == row.ids[slice(*every[second])]:
        raise ValueError(
            gettext_lazy("Both words read alike, so that swapping them changes nothing. Pick two different ones.")
        )
    pair = {every[first]: every[second], every[second]: every[first]}
    if not any(pair.keys() <= set(stretch) for stretch in parts):
        raise ValueError(gettext_lazy("Two words of different texts cannot be swapped. Pick two words of one text."))
    return _order(row, parts, [[pair.get(unit, unit) for unit in stretch] for stretch in parts])


def permute_map(weights: FloatArray, order: Sequence[int]) -> FloatArray:
    """A map (query, key) with its rows and its columns in another order.

    >>> permute_map(np.array([[0, 1], [2, 3]], np.float32), [1, 0]).tolist()
    [[3.0, 2.0], [1.0, 0.0]]
    """
    index = np.asarray(order)
    result: FloatArray = weights[np.ix_(index, index)]
    return result


def differences(text: Sequence[AnyRecord], mixed: Sequence[AnyRecord], order: Sequence[int]) -> FloatArray:
    """How far the mixed text's maps are from the text's own maps rearranged: the largest |weight - weight|, by head.

    ``text`` and ``mixed`` have one record a layer; the result is (layer, head), zero where the map just follows.
    """
    rows = [
        [np.abs(there.weights(head) - permute_map(here.weights(head), order)).max() for head in range(here.heads)]
        for here, there in zip(text, mixed, strict=True)
    ]
    return np.array(rows, dtype=np.float32)


def _order(row: TokenRow, parts: Sequence[Sequence[Unit]], mixed: Sequence[Sequence[Unit]]) -> tuple[int, ...]:
    order = list(range(len(row)))
    for stretch, units in zip(parts, mixed, strict=True):
        order[stretch[0][0] : stretch[-1][1]] = [at for unit in units for at in range(*unit)]
    return tuple(order)
