"""Matrices on a page; what is saved of one says which model and text it is of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ui.show.provenance import page_provenance
from viz.components.matrices import matrices
from viz.components.matrices.matrices import About, MatrixSpec
from viz.figures.labels import truncate

LONGEST = 2000  # characters of a text that goes to the page with each of its matrices


def draw_matrices(
    sheets: Sequence[MatrixSpec],
    key: str,
    *,
    on_pick: Callable[[], None] | None = None,
    numbers: bool | None = None,
    about: About | None = None,
) -> None:
    """Put matrices on the page, as ``mount`` does; ``about`` is by default the page's model and text."""
    told = tuple(page_provenance().items()) if about is None else about
    short = [(name, truncate(value, LONGEST)) for name, value in told]
    matrices.mount(sheets, key, on_pick=on_pick, numbers=numbers, about=short)
