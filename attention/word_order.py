"""Another order of a text's words, and whether a map follows it: what the order test compares."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from attention.mask import FloatArray
from attention.record import AnyRecord
from attention.tokens import TokenRow
from i18n import gettext_lazy

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
