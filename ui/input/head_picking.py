"""One head among many on a map: the reader's where one is chosen, else the one with the largest number."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from i18n import _, ngettext
from ui.state.session import set_view_state
from ui.state.view_state import ViewState
from viz.figures import head_map


def head_of(choice: ViewState, values: FloatArray) -> tuple[int, int]:
    """Return the chosen (layer, head) if the map has it, else that of the largest of ``values`` (layer, head).

    Layers without attention are NaN.

    >>> head_of(ViewState(layer=7, head=0), np.array([[0.1, 0.3, 0.2]]))
    (0, 1)
    """
    layers, heads = values.shape
    if (
        choice.layer is not None
        and choice.head is not None
        and choice.layer < layers
        and choice.head < heads
        and np.isfinite(values[choice.layer, choice.head])
    ):
        return choice.layer, choice.head
    layer, head = np.unravel_index(int(np.nanargmax(values)), values.shape)
    return int(layer), int(head)


def head_name(layer: int, head: int, base: int) -> str:
    """A head in a sentence; layers and heads are counted from ``base``.

    >>> head_name(2, 0, 1)
    'layer 3 · head 1'
    """
    return _("layer {layer} · head {head}", layer=layer + base, head=head + base)


def rank_of(values: FloatArray, layer: int, head: int) -> str:
    """Return how many heads have a larger value than a head, in words; those with NaN do not exist.

    >>> rank_of(np.array([[0.1, 0.3, 0.2]]), 0, 2)
    '1 of 3 heads gives more'
    """
    more, size = int((values > values[layer, head]).sum()), int(np.isfinite(values).sum())
    if more:
        return ngettext(
            "{many} of {size} heads gives more",
            "{many} of {size} heads give more",
            more,
            many=more,
            size=size,
        )
    if size == 1:
        return _("the model's only head")
    alone = (values == values[layer, head]).sum() == 1
    return _("more than any other head") if alone else _("no other head gives more")


def keep_head(key: str) -> None:
    """In the callback of the map drawn under ``key``: the head that was clicked becomes the chosen one."""
    picked = head_map.picked_head(st.session_state[key])
    if picked is not None:
        set_view_state(layer=picked[0], head=picked[1])
