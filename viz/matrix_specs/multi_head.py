"""One token in every head of a layer: a row a head, a column a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention.mask import FloatArray
from i18n import _
from viz.components.matrices.matrices import MatrixSpec


def multi_head(  # noqa: PLR0913  (what the sheets are made from)
    weights: FloatArray,
    spread: FloatArray,
    names: Sequence[str],
    shown: FloatArray,
    *,
    head: int,
    marked: int | None,
    single: FloatArray | None,
    base: int,
) -> list[MatrixSpec]:
    """Sheets of one token's weights in every head (head, key), of their mean, and of their entropies (head,) in bits.

    ``shown`` are the keys drawn, with ``names``; ``single`` (key,) are the weights of all channels as one head.
    """
    heads = [_("head {head}", head=at + base) for at in range(len(weights))]
    column = () if marked is None else (marked,)
    kinds = {_("mean of the heads"): weights.mean(axis=0), _("as one head"): single}
    others = {name: row[shown] for name, row in kinds.items() if row is not None}
    limit = max(float(row.max(initial=0)) for row in (weights, *others.values())) or None
    common: dict[str, Any] = {
        "columns": tuple(names),
        "palette": "sequential",
        "limit": limit,
        "marked_columns": column,
    }
    return [
        MatrixSpec(_("Weights of every head"), weights[:, shown], tuple(heads), marked_rows=(head,), **common),
        MatrixSpec(
            _("Entropy"), spread[:, None], tuple(heads), (_("bits"),), palette="sequential", marked_rows=(head,)
        ),
        MatrixSpec(_("All heads in one row"), np.stack(list(others.values())), tuple(others), **common),
    ]
