"""Which channels make a score: query times key, channel by channel, for every key shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.mask import Array
from viz.components.matrices.matrices import Sheet
from wording import _


def neuron(  # noqa: PLR0913  (what the sheets are made from)
    query: Array, keys: Array, scale: float, weights: Array, names: Sequence[str], marked: int | None
) -> list[Sheet]:
    """Sheets of one query (channel,) against keys (key, channel), with their sums and weights (key,).

    What a softmax sees are the differences between keys; so the last sheet says how much each channel's product, times
    ``scale``, differs between the keys shown.
    """
    products = query * keys
    channels, marks = len(query), () if marked is None else (marked,)
    rows = tuple(names)
    spread = (products * np.float32(scale)).std(axis=0, keepdims=True)
    return [
        Sheet("q", query[None], ("q",), note=_("The query's {channels} channels.", channels=channels)),
        Sheet("k", keys, rows, note=_("A key a row."), marked_rows=marks),
        Sheet("q × k", products, rows, note=_("Channel by channel; a row sums to q · k."), marked_rows=marks),
        Sheet("q · k", products.sum(axis=1, keepdims=True), rows, note=_("The sums."), marked_rows=marks),
        Sheet(
            _("weight"), weights[:, None], rows, note=_("After the softmax."), palette="sequential", marked_rows=marks
        ),
        Sheet(
            _("How much each channel tells these keys apart"),
            spread,
            (_("spread"),),
            note=_("Standard deviation over the keys of the scaled products."),
            palette="sequential",
        ),
    ]
