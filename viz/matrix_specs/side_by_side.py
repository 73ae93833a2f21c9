"""One head's maps in two readings and their difference, over the words that both have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attention.mask import FloatArray
from i18n import _
from viz.components.matrices.matrices import MatrixSpec


def side_by_side(  # noqa: PLR0913  (what the sheets are made from)
    first: FloatArray,
    second: FloatArray,
    queries: Sequence[str],
    keys: Sequence[str],
    names: tuple[str, str],
    marked: tuple[int | None, int | None],
) -> list[MatrixSpec]:
    """``first`` and ``second`` are (query, key) and share a scale; ``marked`` is the row and the column in focus."""
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
            _("Brown: more {second}. Blue: more {first}.", second=names[1], first=names[0]),
            **marks,
        ),
    ]
