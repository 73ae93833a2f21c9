"""Which head shows what a word links to: the one whose link goes furthest beyond what is usual.

Usual is what the other words of the text give the same word (attention/excess.py) and, where other texts were read,
what the head gives that place in them (attention/positional_prior.py).
"""

from __future__ import annotations

import numpy as np

from attention.head_summary import HeadSummary
from attention.mask import BoolArray, FloatArray
from attention.positional_prior import PositionalPrior
from attention.view import View


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
