"""Positional encodings, and permutations of words for the test of word order."""

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

NO_WORDS_TO_SWAP = gettext_lazy("The text has no two different words. Type a longer one.")
SAME_WORDS = gettext_lazy("Both words are the same. Pick another.")

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

BASE = 10_000.0  # base of sinusoidal vectors and of rotary positions in their papers
BUCKETS, FARTHEST = 32, 128  # number of buckets and maximum distance in tokens of T5's relative bias


def frequencies(dimensions: int, base: float = BASE) -> Numbers:
    """Return ω_i = base^(-2i/d) in radians per token, shape (pair,) (arXiv:1706.03762, section 3.5).

    The values fall from 1 to almost 1/base. Raise ValueError for an odd number of dimensions or for less than 2.

    >>> frequencies(4).tolist()
    [1.0, 0.01]
    """
    if dimensions < 2 or dimensions % 2:
        raise ValueError(f"{dimensions} dimensions came; sine and cosine come in pairs, so an even number is needed.")
    result: Numbers = base ** (-np.arange(0, dimensions, 2) / dimensions)
    return result


def sinusoidal(length: int, dimensions: int, base: float = BASE) -> Numbers:
    """Return sinusoidal position vectors, shape (position, dimension), between -1 and 1.

    PE(pos, 2i) = sin(pos·ω_i) and PE(pos, 2i+1) = cos(pos·ω_i). Raise ValueError for an odd number of dimensions.

    >>> sinusoidal(2, 4).round(2).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.84, 0.54, 0.01, 1.0]]
    """
    angles = np.arange(length)[:, None] * frequencies(dimensions, base)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, dimensions)


def halves(vectors: Numbers) -> Numbers:
    """Reorder columns to all sines, then all cosines, as in translation models such as Marian.

    >>> halves(np.array([[1.0, 2, 3, 4]])).tolist()
    [[1.0, 3.0, 2.0, 4.0]]
    """
    return np.concatenate([vectors[:, 0::2], vectors[:, 1::2]], axis=1)


def shift_matrix(shift: int, dimensions: int, base: float = BASE) -> Numbers:
    """Return M_k with PE(pos + k) = M_k · PE(pos) for every position, shape (dimension, dimension).

    M_k rotates each pair of columns by k·ω_i. Its existence motivated the choice of sinusoids (arXiv:1706.03762,
    section 3.5): sin((pos + k)ω) = cos(kω) sin(pos·ω) + sin(kω) cos(pos·ω), and similarly for the cosine.

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
    """Return the largest error of PE(pos + k) ≈ M_k · PE(pos), over all positions that have both vectors.

    >>> shift_error(sinusoidal(9, 6), 3, shift_matrix(3, 6)) < 1e-14
    True
    """
    later, earlier = vectors[shift:], vectors[: len(vectors) - shift]
    return float(np.abs(later - earlier @ matrix.T).max(initial=0))


@dataclass(frozen=True, eq=False)
class ByDistance:
    """The mean, lowest and highest dot product of two position vectors at each distance, each (distance,).

    Distances count from 0. Each value is over all pairs of positions at that distance.
    """

    mean: Numbers
    lowest: Numbers
    highest: Numbers


def by_distance(vectors: Numbers) -> ByDistance:
    """Return the dot products of all pairs of position vectors (position, dimension), grouped by distance.

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
    """Return the cosine similarity of each position vector with the next, shape (position - 1,).

    The similarity with a zero vector is 0.

    >>> neighbours(np.array([[1.0, 0], [2, 0], [0, 5]])).tolist()
    [1.0, 0.0]
    """
    norms = np.linalg.norm(vectors, axis=1)
    products = (vectors[:-1] * vectors[1:]).sum(axis=1)
    sizes = norms[:-1] * norms[1:]
    result: Numbers = np.divide(products, sizes, out=np.zeros_like(products), where=sizes > 0)
    return result


def closest_rows(vectors: Numbers) -> tuple[float, int, int]:
    """Return (distance, first index, second index) of the two closest vectors, by Euclidean distance.

    Distance 0 means that two positions cannot be distinguished. If several pairs are equally close, up to rounding, the
    first is returned. Raise ValueError for fewer than two vectors.

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
    # Recompute the distance from the rows, because the expanded squares lose precision for close rows.
    return float(np.linalg.norm(vectors[first] - vectors[second])), first, second


def rotary_score(distances: Counts, omega: Numbers) -> Numbers:
    """Return the score of an equal query and key at each distance, relative to distance 0, (distance,), -1 to 1.

    A rotary encoding rotates channel pair i of a query at position m by m·ω_i, and that of a key at n by n·ω_i. The
    score therefore depends on the distance only. It is Σ cos((m - n)·ω_i) if all pairs have the same norm
    (arXiv:2104.09864, section 3.2.2).

    >>> rotary_score(np.array([0, 3]), np.array([np.pi / 3])).round(2).tolist()
    [1.0, -1.0]
    """
    result: Numbers = np.cos(distances[:, None] * omega).mean(axis=1)
    return result


def rotary_bound(distances: Counts, omega: Numbers) -> Numbers:
    """Return the decay of an upper bound of rotary scores: the bound relative to distance 0, shape (distance,).

    The decay is the mean of |S_k| over k, with S_k = Σ e^(i·distance·ω_j) over j < k, divided by its value at distance
    0 (arXiv:2104.09864, section 3.4.3). The bound is the decay times a factor that depends on the vectors. Scores
    relative to distance 0 may therefore exceed the decay.

    >>> rotary_bound(np.array([0, 1]), np.array([np.pi, 2 * np.pi])).round(2).tolist()
    [1.0, 0.33]
    """
    sums = np.abs(np.exp(1j * distances[:, None] * omega).cumsum(axis=1))
    result: Numbers = sums.mean(axis=1) / (np.arange(len(omega)) + 1).mean()
    return result


def alibi_slopes(heads: int) -> Numbers:
    """Return ALiBi's slope for each head, shape (head,): 2^(-8h/n) for h = 1..n (arXiv:2108.12409).

    A slope is the penalty per token of distance. If the number of heads is not a power of two, the slopes are those of
    the next lower power, then every second slope of the next higher power, as in the authors' code. Raise ValueError
    for less than a single head.

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
    """Return the bucket of T5's relative bias for each offset, key minus query, shape (offset,).

    With ``both_ways``, as in an encoder, half of the buckets are for later keys and half for all others. Otherwise all
    buckets are for earlier keys, and later keys share bucket 0 with the query itself. In each direction, half of the
    buckets cover a single distance each. The others grow logarithmically up to ``farthest``, and larger distances share
    the last bucket (arXiv:1910.10683, section 2.1, and its code).

    >>> t5_buckets(np.array([0, -1, 1, -8, -200])).tolist()
    [0, 1, 17, 8, 15]
    """
    side = buckets // 2 if both_ways else buckets
    far = np.abs(offsets) if both_ways else np.maximum(-offsets, 0)
    exact = side // 2
    # Use float32 like the models' code, so that distances on a boundary get the same bucket.
    steps = np.log(np.maximum(far, 1).astype(np.float32) / exact) / np.log(farthest / exact) * (side - exact)
    grown = np.minimum(exact + steps.astype(np.int64), side - 1)
    found: Counts = np.where(far < exact, far, grown) + (side * (offsets > 0) if both_ways else 0)
    return found


Unit = tuple[int, int]  # token range (start, stop) of a word


def word_stretches(row: TokenRow) -> list[list[Unit]]:
    """Return the words of a text as lists of words that can be swapped with each other.

    A special token, or the boundary between the two texts of a pair, begins a new list. A word is its token range
    (start, stop).

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
    """Return the token range (start, stop) of every word in text order."""
    return [unit for stretch in word_stretches(row) for unit in stretch]


def shuffle_tokens(row: TokenRow, seed: int) -> tuple[int, ...]:
    """Return a shuffled order: entry ``i`` is the index of the token that moves to position ``i``.

    Tokens of a word stay together, special tokens keep their positions, and the texts of a pair are shuffled
    separately. The order is reproducible by ``seed`` and always changes the text. Raise ValueError if no order does.
    """
    parts = word_stretches(row)
    if not any(len({row.ids[slice(*unit)] for unit in stretch}) > 1 for stretch in parts):
        raise ValueError(NO_WORDS_TO_SWAP)
    dice = random.Random(seed)
    while True:
        mixed = [dice.sample(stretch, len(stretch)) for stretch in parts]
        order = _order(row, parts, mixed)
        if [row.ids[at] for at in order] != list(row.ids):
            return order


def swap_words(row: TokenRow, first: int, second: int) -> tuple[int, ...]:
    """Return the order of a text's tokens after the words numbered ``first`` and ``second`` swap places.

    The numbers are indices into ``words(row)``. Raise ValueError if a word is missing, if both words are equal, or if
    the words are in different texts or have a special token between them.
    """
    parts = word_stretches(row)
    every = [unit for stretch in parts for unit in stretch]
    if first == second or not all(0 <= word < len(every) for word in (first, second)):
        raise ValueError(
            gettext_lazy(
                "Words {first} and {second} cannot be swapped; words are 0 to {last}.",
                first=first,
                second=second,
                last=len(every) - 1,
            )
        )
    if row.ids[slice(*every[first])] == row.ids[slice(*every[second])]:
        raise ValueError(SAME_WORDS)
    pair = {every[first]: every[second], every[second]: every[first]}
    if not any(pair.keys() <= set(stretch) for stretch in parts):
        raise ValueError(gettext_lazy("The words are in different texts. Pick two of one text."))
    return _order(row, parts, [[pair.get(unit, unit) for unit in stretch] for stretch in parts])


def permute_map(weights: FloatArray, order: Sequence[int]) -> FloatArray:
    """Return a map (query, key) with rows and columns permuted by ``order``.

    >>> permute_map(np.array([[0, 1], [2, 3]], np.float32), [1, 0]).tolist()
    [[3.0, 2.0], [1.0, 0.0]]
    """
    index = np.asarray(order)
    result: FloatArray = weights[np.ix_(index, index)]
    return result


def differences(text: Sequence[AnyRecord], mixed: Sequence[AnyRecord], order: Sequence[int]) -> FloatArray:
    """Return how much each head depends on the order of the tokens, shape (layer, head), from 0 to 1.

    ``text`` has the record of each layer for a text, and ``mixed`` for the same text permuted by ``order``. If a head
    ignores order, its map is permuted like the tokens (permutation equivariance). The value is the largest difference
    of a weight from that permuted map.
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
