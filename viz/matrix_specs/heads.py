"""Matrices to draw: all heads' weights, the channels of a score, two compared texts, attribution methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention.mask import FloatArray
from i18n import _
from viz.components.matrices.matrices import MatrixSpec


def agreement_matrices(
    names: Sequence[str], words: Sequence[str], shares: FloatArray, agreement: FloatArray, marked: Sequence[int] = ()
) -> list[MatrixSpec]:
    """Return two matrices: the share of each word by each attribution method, and the methods' agreement.

    ``shares`` is (method, word), rows summing to one; ``agreement`` is (method, method), rank correlations from -1 to
    1. The methods ``marked`` are framed in the second matrix.
    """
    return [
        MatrixSpec(
            _("Share of each word by method"),
            shares,
            tuple(names),
            tuple(words),
            _("Rows sum to one: compare patterns, not sizes."),
            "sequential",
        ),
        MatrixSpec(
            _("Rank correlation of methods"),
            agreement,
            tuple(names),
            tuple(names),
            _("Spearman's rank correlation over words: 1 same order, 0 none, -1 reverse."),
            "diverging",
            1.0,
            tuple(marked),
            tuple(marked),
        ),
    ]


def multi_head(  # noqa: PLR0913  (the inputs of the sheets)
    weights: FloatArray,
    spread: FloatArray,
    names: Sequence[str],
    shown: FloatArray,
    *,
    head: int,
    marked: int | None,
    single: FloatArray | None,
) -> list[MatrixSpec]:
    """Return matrices of a query's weights in every head, of the heads' entropies, and of the mean weights.

    ``weights`` is (head, key), and ``spread`` the entropies (head,) in bits. ``shown`` are the indices of the keys that
    are drawn, with their ``names``. ``single`` (key,) are the query's weights if all channels formed a single head, or
    None.
    """
    heads = [_("head {head}", head=at) for at in range(len(weights))]
    column = () if marked is None else (marked,)
    kinds = {_("the mean of all heads"): weights.mean(axis=0), _("as one head"): single}
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


def neuron(  # noqa: PLR0913  (the inputs of the sheets)
    query: FloatArray, keys: FloatArray, scale: float, weights: FloatArray, names: Sequence[str], marked: int | None
) -> list[MatrixSpec]:
    """Return matrices of a query, the keys, their products by channel, and the attention weights.

    ``query`` is (channel,), ``keys`` (key, channel) and ``weights`` (key,). The last matrix shows which channels
    distinguish the keys: the standard deviation over keys of each channel's product, times ``scale``. The softmax
    depends on such differences only.
    """
    products = query * keys
    channels, marks = len(query), () if marked is None else (marked,)
    rows = tuple(names)
    spread = (products * np.float32(scale)).std(axis=0, keepdims=True)
    return [
        MatrixSpec("q", query[None], ("q",), note=_("The query's {channels} channels.", channels=channels)),
        MatrixSpec("k", keys, rows, note=_("A key a row."), marked_rows=marks),
        MatrixSpec("q × k", products, rows, note=_("By channel; a row sums to q · k."), marked_rows=marks),
        MatrixSpec("q · k", products.sum(axis=1, keepdims=True), rows, marked_rows=marks),
        MatrixSpec(
            _("weight"), weights[:, None], rows, note=_("After the softmax."), palette="sequential", marked_rows=marks
        ),
        MatrixSpec(
            _("How much each channel distinguishes these keys"),
            spread,
            (_("spread"),),
            note=_("Standard deviation of scaled products over keys."),
            palette="sequential",
        ),
    ]


def side_by_side(  # noqa: PLR0913  (the inputs of the sheets)
    first: FloatArray,
    second: FloatArray,
    queries: Sequence[str],
    keys: Sequence[str],
    names: tuple[str, str],
    marked: tuple[int | None, int | None],
    colors: tuple[str, str],
) -> list[MatrixSpec]:
    """Return two maps (query, key) on a common scale, and the map of their difference.

    ``marked`` is the row and the column in focus, and ``colors`` names the colours of negative and positive numbers.
    """
    rows, columns = tuple(queries), tuple(keys)
    marks: dict[str, Any] = {
        name: () if at is None else (at,) for name, at in zip(("marked_rows", "marked_columns"), marked, strict=True)
    }
    limit = float(max(first.max(initial=0), second.max(initial=0))) or None
    return [
        MatrixSpec(names[0], first, rows, columns, _("Rows look at columns."), "sequential", limit, **marks),
        MatrixSpec(names[1], second, rows, columns, _("On the same scale."), "sequential", limit, **marks),
        MatrixSpec(
            _("Second − first"),
            second - first,
            rows,
            columns,
            _(
                "{above}: more {second} · {below}: more {first}",
                above=colors[1],
                below=colors[0],
                second=names[1],
                first=names[0],
            ),
            **marks,
        ),
    ]
