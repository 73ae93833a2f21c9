"""Which channels make a score: query times key, channel by channel, for every key shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.mask import FloatArray
from i18n import _
from viz.components.matrices.matrices import MatrixSpec


def neuron(  # noqa: PLR0913  (what the sheets are made from)
    query: FloatArray, keys: FloatArray, scale: float, weights: FloatArray, names: Sequence[str], marked: int | None
) -> list[MatrixSpec]:
    """Sheets of one query (channel,) against keys (key, channel), with their sums and weights (key,).

    What a softmax sees are the differences between keys; so the last sheet says how much each channel's product, times
    ``scale``, differs between the keys shown.
    """
    products = query * keys
    channels, marks = len(query), () if marked is None else (marked,)
    rows = tuple(names)
    spread = (products * np.float32(scale)).std(axis=0, keepdims=True)
    return [
        MatrixSpec("q", query[None], ("q",), note=_("The query's {channels} channels.", channels=channels)),
        MatrixSpec("k", keys, rows, note=_("A key a row."), marked_rows=marks),
        MatrixSpec("q × k", products, rows, note=_("Channel by channel; a row sums to q · k."), marked_rows=marks),
        MatrixSpec("q · k", products.sum(axis=1, keepdims=True), rows, note=_("The sums."), marked_rows=marks),
        MatrixSpec(
            _("weight"), weights[:, None], rows, note=_("After the softmax."), palette="sequential", marked_rows=marks
        ),
        MatrixSpec(
            _("How much each channel tells these keys apart"),
            spread,
            (_("spread"),),
            note=_("Standard deviation over the keys of the scaled products."),
            palette="sequential",
        ),
    ]
