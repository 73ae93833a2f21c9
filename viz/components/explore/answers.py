"""What the microscope asks for while it is looked at, as binary frames; routes and a notebook's messages carry them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from attention.codec import frame
from attention.head_summary import HeadSummary
from attention.view import BLOCK, View
from i18n import gettext_lazy

LARGEST_TILE = 1024  # cells on a side

QueryFields = Mapping[str, str]  # a question's fields, as an address writes them


class BadRequest(ValueError):
    """A question about nothing."""


def grid(found: HeadSummary, places: Mapping[str, Any] | None) -> bytes:
    """All heads small, and what the words of the text give each key together; ``places`` as content.places tells."""
    crowd = found.crowd
    arrays = {
        "grid": (found.thumbnails, "signed8" if found.signed else "sqrt8"),
        "means": (crowd.means(), "float16"),
        "counts": (crowd.counts.astype(np.float32), "float16"),
    }
    rows = crowd.rows.tolist() if found.sampled else None
    return frame({"sampled": found.sampled, "rows": rows, "habits": places}, arrays)


def rows(view: View, asked: QueryFields) -> bytes:
    """Where one token looks in every head."""
    query = number(asked, "query", len(view.queries))
    return frame({"query": query}, {"rows": (view.rows(query), "float16")})


def columns(view: View, asked: QueryFields) -> bytes:
    """Who looks at one token in every head."""
    key = number(asked, "key", len(view.keys))
    return frame({"key": key}, {"columns": (view.columns(key), "float16")})


def tile(view: View, asked: QueryFields) -> bytes:
    """A part of one head's map at the resolution asked for."""
    layer, head = head_of(asked, view)
    (q0, q1), (k0, k1) = _span(asked, "q", len(view.queries)), _span(asked, "k", len(view.keys))
    wanted = number(asked, "size", 10**6)
    # A cell never covers more weights than are computed at once.
    size = min(max(1, wanted, -(-(q1 - q0) * (k1 - k0) // BLOCK)), LARGEST_TILE)
    weights = view.tile(layer, head, q0, q1, k0, k1, size)
    header = {"layer": layer, "head": head, "q0": q0, "q1": q1, "k0": k0, "k1": k1}
    exact = weights.shape == (q1 - q0, k1 - k0)
    return frame({**header, "exact": exact}, {"tile": (weights, "float16")})


OF_A_VIEW: dict[str, Callable[[View, QueryFields], bytes]] = {"rows": rows, "columns": columns, "tile": tile}


def number(asked: QueryFields, name: str, end: int) -> int:
    """A whole number from 0 to end - 1 in a question. Raises BadRequest for anything else.

    >>> number({"layer": "3"}, "layer", 6)
    3
    """
    raw = asked.get(name, "")
    if not (raw.isascii() and raw.isdigit() and len(raw) < 10 and int(raw) < end):
        raise BadRequest(
            gettext_lazy(
                "“{name}” is {raw!r}; it should be a whole number from 0 to {last}.",
                name=name,
                raw=raw[:20],
                last=end - 1,
            )
        )
    return int(raw)


def _span(asked: QueryFields, name: str, length: int) -> tuple[int, int]:
    start, stop = number(asked, f"{name}0", length), number(asked, f"{name}1", length + 1)
    if start >= stop:
        raise BadRequest(
            gettext_lazy(
                "“{name}0” is {start} and “{name}1” is {stop}; the first should be less.",
                name=name,
                start=start,
                stop=stop,
            )
        )
    return start, stop


def head_of(asked: QueryFields, view: View) -> tuple[int, int]:
    """The layer and head in a question."""
    return number(asked, "layer", view.layers), number(asked, "head", view.heads)
