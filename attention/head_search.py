"""Search over all heads: candidates of a question, and the head to open a text with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from attention.comparison import by_words
from attention.excess import PositionalPrior
from attention.mask import BoolArray, FloatArray
from attention.measures import HeadSummary
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

    They are the partners of attention/comparison.py. Names that changed places cannot all be partners, since those
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


def weight_above_expected(weights: FloatArray, usual: FloatArray, placed: FloatArray | None) -> FloatArray:
    """What is left of weights (…) beyond what others give, and beyond what the place gets whatever stands there."""
    known = np.nan_to_num(usual)
    return weights - (known if placed is None else np.maximum(known, placed))


def between_words(links: FloatArray, view: View, query: int) -> FloatArray:
    """Links (layer, head, key) of one query, with special tokens and its own word at zero."""
    away = np.array([cell.special for cell in view.keys])
    if not view.crosses:
        away |= np.arange(len(view.keys)) == query
    return np.where(away, 0, links)


def head_of_link(  # noqa: PLR0913  # what is asked, and what it is compared with
    view: View,
    survey: HeadSummary,
    habits: PositionalPrior | None,
    focus: int,
    target: int | None = None,
    heads: BoolArray | None = None,
) -> tuple[int, int]:
    """(layer, head) of the link from the focus, to the target if there is one, that goes furthest beyond both.

    ``heads``, (layer, head), says which heads are asked; None: every head.
    """
    rows = view.rows(focus)  # (layer, head, key)
    rows = np.abs(rows) if view.is_signed else rows
    placed = None if habits is None else habits.row(view, focus)
    own = weight_above_expected(rows, survey.crowd.usual_row(view, focus, rows), placed)
    links = own[..., target] if target is not None else between_words(own, view, focus).max(axis=-1)
    links = links if heads is None else np.where(heads, links, -np.inf)
    without = [layer for layer in range(view.layers) if layer not in view.attending]
    links[without] = -np.inf
    layer, head = np.unravel_index(int(links.argmax()), links.shape)
    return int(layer), int(head)
