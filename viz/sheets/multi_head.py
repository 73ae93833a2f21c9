"""One token in every head of a layer: a row a head, a column a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention.mask import Array
from viz.components.matrices.matrices import Sheet
from wording import _


def multi_head(  # noqa: PLR0913  (what the sheets are made from)
    weights: Array,
    spread: Array,
    names: Sequence[str],
    shown: Array,
    *,
    head: int,
    marked: int | None,
    single: Array | None,
    base: int,
) -> list[Sheet]:
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
        Sheet(_("Weights of every head"), weights[:, shown], tuple(heads), marked_rows=(head,), **common),
        Sheet(_("Entropy"), spread[:, None], tuple(heads), (_("bits"),), palette="sequential", marked_rows=(head,)),
        Sheet(_("All heads in one row"), np.stack(list(others.values())), tuple(others), **common),
    ]
