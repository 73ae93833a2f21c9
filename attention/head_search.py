"""One question put to every head: how much does it give each candidate, and does that change with one word?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray
from attention.text_alignment import by_words
from attention.view import View

Flags = npt.NDArray[np.bool_]
LEAST = 0.01  # difference of two links from which a head prefers one of them


def links(view: View, source: int, candidates: Sequence[int], *, inward: bool = False) -> FloatArray:
    """Every head's weight from the source to each candidate, (candidate, layer, head), each between 0 and 1.

    ``source`` and ``candidates`` count cells of the view. ``inward`` asks the other way: how much each candidate
    looks at the source.
    """
    if inward:
        return np.moveaxis(view.columns(source)[:, :, list(candidates)], 2, 0)
    return np.moveaxis(view.rows(source)[:, :, list(candidates)], 2, 0)


def favorite_counts(view: View, weights: FloatArray, key: int, source: int) -> tuple[int, int]:
    """Of how many other words a key is the favourite in one head, (query, key) weights, and how many they are.

    A word's favourite is the word that it looks at most, itself and special tokens aside; the key and the ``source``,
    about which is asked, are no others. A word that looks at no word has none.
    """
    words = np.array([not cell.special for cell in view.keys])
    rows = [at for at, cell in enumerate(view.queries) if not cell.special and at not in (source, key)]
    between = np.where(words[None, :], weights[rows], -1)
    if not view.crosses:
        between[np.arange(len(rows)), rows] = -1
    best = between.argmax(axis=1) if rows else np.zeros(0, dtype=np.intp)
    looked = between[np.arange(len(rows)), best] > 0
    return int((looked & (best == key)).sum()), int(looked.sum())


def preference(found: FloatArray) -> FloatArray:
    """What each head gives the first candidate more than the second, (layer, head), between -1 and 1.

    >>> preference(np.array([[[0.7]], [[0.2]]])).round(2).tolist()
    [[0.5]]
    """
    difference: FloatArray = found[0] - found[1]
    return difference


def flips(before: FloatArray, after: FloatArray) -> Flags:
    """Return which heads prefer one candidate before and the other after, each by more than LEAST, (layer, head).

    >>> flips(np.array([[0.5, -0.1, 0.2]]), np.array([[-0.1, 0.3, -0.005]])).tolist()
    [[True, True, False]]
    """
    turned: Flags = prefers_first(before) & prefers_first(-after) | prefers_first(-before) & prefers_first(after)
    return turned


def prefers_first(preference: FloatArray) -> Flags:
    """Return which heads prefer the first candidate by more than LEAST, (layer, head)."""
    more: Flags = preference > LEAST
    return more


def follows(before: FloatArray, after: FloatArray) -> Flags:
    """Return which heads prefer the first candidate before and the second after, by more than LEAST, (layer, head).

    >>> follows(np.array([[0.5, -0.1, 0.2]]), np.array([[-0.1, 0.3, 0.0]])).tolist()
    [[True, False, False]]
    """
    turned: Flags = prefers_first(before) & prefers_first(-after)
    return turned


def counterparts(asked: Sequence[int], before: Sequence[str], after: Sequence[str]) -> tuple[int, ...] | None:
    """Where the words that are asked about stand in another text; None where one of them has no counterpart there.

    They are the partners of attention/text_alignment.py. Names that changed places cannot all be partners, since those
    stand in the same order; in a text of as many words each then has the word at its own place.

    >>> counterparts([1, 3], "it was too tired".split(), "it was much too wide".split())
    (1, 4)
    >>> counterparts([0, 3], "Ann Ann met Bob .".split(), "Bob met Ann Ann .".split())
    (0, 3)
    """
    partners = dict(by_words(before, after))
    if all(word in partners for word in asked):
        return tuple(partners[word] for word in asked)
    return tuple(asked) if len(before) == len(after) else None
