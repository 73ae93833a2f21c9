"""Search over all heads: for heads that prefer a candidate word, and for the head that best shows a link."""

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
LEAST = 0.01  # minimum difference between two weights for a preference


def links(view: View, source: int, candidates: Sequence[int], *, inward: bool = False) -> FloatArray:
    """Return each head's weight from the source to each candidate, shape (candidate, layer, head), 0 to 1.

    ``source`` and ``candidates`` are indices of words or tokens in the view. With ``inward``, return the weights from
    each candidate to the source instead.
    """
    if inward:
        return np.moveaxis(view.columns(source)[:, :, list(candidates)], 2, 0)
    return np.moveaxis(view.rows(source)[:, :, list(candidates)], 2, 0)


def expected_links(  # noqa: PLR0913  # a link, and its baselines
    view: View,
    survey: HeadSummary,
    habits: PositionalPrior | None,
    source: int,
    candidates: Sequence[int],
    *,
    inward: bool = False,
) -> tuple[FloatArray, FloatArray | None]:
    """Return expected weights for the result of ``links``: column means, and positional priors or None.

    Both have the shape (candidate, layer, head). The column mean is the mean weight that other words give the same key,
    NaN if there are no other words; ``survey`` has the sums for it. The positional prior ``habits`` is the mean weight
    of the same relative position in other texts. Without it, the second result is None.
    """
    chosen = list(candidates)
    if inward:
        usual = survey.crowd.usual_column(view, source, view.columns(source))
        placed = None if habits is None else np.array([habits.row(view, each)[..., source] for each in chosen])
    else:
        usual = survey.crowd.usual_row(view, source, view.rows(source))
        placed = None if habits is None else np.moveaxis(habits.row(view, source)[..., chosen], 2, 0)
    return np.moveaxis(usual[..., chosen], 2, 0), placed


def favorite_counts(view: View, weights: FloatArray, key: int, source: int) -> tuple[int, int]:
    """Return the number of words that attend most to ``key`` in a head, and the number of words counted.

    ``weights`` is (query, key). Special tokens, and a word's weight on itself, are ignored. ``key``, ``source`` and
    words without weight on any other word are not counted.
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
    """Return each head's weight on the first candidate minus that on the second, shape (layer, head), -1 to 1.

    >>> preference(np.array([[[0.7]], [[0.2]]])).round(2).tolist()
    [[0.5]]
    """
    difference: FloatArray = found[0] - found[1]
    return difference


def flips(before: FloatArray, after: FloatArray) -> Flags:
    """Return True for each head whose preferred candidate changes with a change of the text, shape (layer, head).

    ``before`` and ``after`` (layer, head) are the head's weight on the first candidate minus that on the second, before
    and after the change. Their signs must differ, and both must exceed LEAST in absolute value.

    >>> flips(np.array([[0.5, -0.1, 0.2]]), np.array([[-0.1, 0.3, -0.005]])).tolist()
    [[True, True, False]]
    """
    turned: Flags = prefers_first(before) & prefers_first(-after) | prefers_first(-before) & prefers_first(after)
    return turned


def prefers_first(preference: FloatArray) -> Flags:
    """Return True for each head that prefers the first candidate by more than LEAST, shape (layer, head).

    ``preference`` (layer, head) is the weight on the first candidate minus that on the second.
    """
    more: Flags = preference > LEAST
    return more


def follows(before: FloatArray, after: FloatArray) -> Flags:
    """Return True for each head that prefers the first candidate before a change of the text, and the second after it.

    ``before`` and ``after`` (layer, head) are the head's weight on the first candidate minus that on the second. Both
    must exceed LEAST in absolute value.

    >>> follows(np.array([[0.5, -0.1, 0.2]]), np.array([[-0.1, 0.3, 0.0]])).tolist()
    [[True, False, False]]
    """
    turned: Flags = prefers_first(before) & prefers_first(-after)
    return turned


def counterparts(asked: Sequence[int], before: Sequence[str], after: Sequence[str]) -> tuple[int, ...] | None:
    """Return the indices of some words in a changed text, or None if a word has no counterpart.

    ``asked`` are indices of the words ``before``, and the result are indices of the words ``after``. Words are aligned
    in their order (attention.comparison.by_words), so of two names that swap places only one is matched. If a word has
    no partner and the texts have equally many words, all indices stay the same.

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
    """Return weights minus their expected weights; an expected weight is the larger of ``usual`` and ``placed``.

    ``usual`` is the column mean: the mean weight that other words of the text give the key. ``placed`` is the
    positional prior: the mean weight of the key's relative position in other texts. NaN and None count as 0.
    """
    known = np.nan_to_num(usual)
    return weights - (known if placed is None else np.maximum(known, placed))


def between_words(links: FloatArray, view: View, query: int) -> FloatArray:
    """Return a query's weights (layer, head, key), with zeros for special tokens and the query itself.

    ``links`` are the weights of the query with the index ``query`` in the view. If the view has no other word, the
    weights of special tokens are kept.
    """
    itself = np.full(len(view.keys), False) if view.crosses else np.arange(len(view.keys)) == query
    away = itself | np.array([cell.special for cell in view.keys])
    away = itself if away.all() else away
    return np.where(away, 0, links)


def head_of_link(  # noqa: PLR0913  # a link, and its baselines
    view: View,
    survey: HeadSummary,
    habits: PositionalPrior | None,
    focus: int,
    target: int | None = None,
    heads: BoolArray | None = None,
) -> tuple[int, int]:
    """Return the (layer, head) in which a link from ``focus`` is furthest above its expected weight.

    The expected weight is the larger of two means (``weight_above_expected``): of other words on the same key (from
    ``survey``), and of the same relative position in other texts (``habits``). The link ends at ``target``, or at any
    word if ``target`` is None. ``heads`` (layer, head) selects candidates; None means all.
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
