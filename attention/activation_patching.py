"""What one text lends another inside the model, as values: a head's output, or the vector that stands at a token.

A patch names a layer of one part of the model ("encoder", "decoder" or "cross"; "" is the first part) and pairs of
tokens, (here, there): at each of its tokens here, the pass takes what the other text's pass has there (activation
patching, arXiv:2004.12265, arXiv:2202.05262). With a ``seed`` it takes a change of the same size in a random direction
instead: what any change as large would do. Layers, heads and tokens count from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attention.mask import FloatArray
from attention.text_alignment import Aligned
from attention.view import View
from i18n import gettext_lazy

Pairs = tuple[tuple[int, int], ...]  # tokens, (here, there)


@dataclass(frozen=True, order=True)
class PatchHead:
    """The head's output, its weighted sum of values, as it enters W_O."""

    layer: int
    head: int
    pairs: Pairs
    part: str = ""
    seed: int | None = None


@dataclass(frozen=True, order=True)
class PatchResidual:
    """The vector that enters the layer: the residual stream before it."""

    layer: int
    pairs: Pairs
    part: str = ""
    seed: int | None = None


Patch = PatchHead | PatchResidual


def paired_tokens(left: View, right: View, aligned: Aligned) -> tuple[Pairs, ...]:
    """For each pair of aligned cells of two views the tokens that stand beside each other.

    Cells of unequal numbers of tokens are paired from their last ones, where a decoder has read the whole word.
    """
    return tuple(
        _from_the_end(
            (left.queries[one[0]].pieces[0], left.queries[one[1] - 1].pieces[1]),
            (right.queries[other[0]].pieces[0], right.queries[other[1] - 1].pieces[1]),
        )
        for one, other in aligned.pairs
    )


def _from_the_end(one: tuple[int, int], other: tuple[int, int]) -> Pairs:
    """Tokens of two runs, beside each other from the last ones.

    >>> _from_the_end((2, 4), (2, 5))
    ((2, 3), (3, 4))
    """
    many = min(one[1] - one[0], other[1] - other[0])
    return tuple(zip(range(one[1] - many, one[1]), range(other[1] - many, other[1]), strict=True))


def residual_patches(layers: int, words: Sequence[Pairs], part: str = "") -> list[tuple[Patch, ...]]:
    """A set for each layer and word, and then one for each word that takes it in every layer, (layer + 1) × word."""
    each: list[tuple[Patch, ...]] = [(PatchResidual(layer, pairs, part),) for layer in range(layers) for pairs in words]
    return each + [tuple(PatchResidual(layer, pairs, part) for layer in range(layers)) for pairs in words]


def head_patches(places: Sequence[tuple[int, int]], words: Sequence[Pairs], part: str = "") -> list[tuple[Patch, ...]]:
    """A set for each head, (layer, head), that takes its output at every word."""
    pairs = tuple(pair for word in words for pair in word)
    return [(PatchHead(layer, head, pairs, part),) for layer, head in places]


def random_patches(sets: Sequence[tuple[Patch, ...]], draws: int, seed: int = 0) -> Iterator[tuple[Patch, ...]]:
    """Each set ``draws`` times with changes of the same size in random directions, no two of them the same.

    >>> [mine[0].seed for mine in random_patches([(PatchResidual(0, ((1, 1),)),), (PatchResidual(1, ((1, 1),)),)], 2)]
    [0, 1, 2, 3]
    """
    for at, mine in enumerate(set for set in sets for _ in range(draws)):
        yield tuple(replace(take, seed=seed + at * len(mine) + number) for number, take in enumerate(mine))


def patching_effect(values: FloatArray, before: FloatArray, other: FloatArray) -> FloatArray:
    """How far each set (set, what) brings the answer from the first text's (what,) to the second's, (set,).

    0 is the first text's answer, 1 the second's; below 0 it goes the other way. Of vectors it is the part of the way
    along the line between the two. Raises ValueError where both texts have the same answer.

    >>> patching_effect(np.array([[0.0, 0.0], [1.0, 5.0], [2.0, 0.0]]), np.zeros(2), np.array([2.0, 0.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    way = (other - before).astype(np.float64)
    length = float(way @ way)
    if not length:
        raise ValueError(gettext_lazy("Both texts have the same answer, so there is no way between them."))
    shares: FloatArray = ((values - before) @ way / length).astype(np.float32)
    return shares
