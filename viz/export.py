"""Export of attention weights to CSV and JSON, with the provenance of the numbers.

Weights have enough digits to restore their exact float32 value. CSV files are UTF-8 with a byte order mark and CRLF
line ends, and contain nothing but the table.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from attention.mask import FloatArray
from attention.spreadsheet import MARK, column_names, safe_cell
from attention.view import DisplayToken, View
from i18n import gettext_lazy, translate

MOST_CELLS = 4_000_000  # weights in a file of a single map: about 45 MB
MOST_WEIGHTS = 10**9  # weights searched for the strongest links, which takes about ten seconds
BLOCK = 2**21  # weights in memory at a time during the search
TOLD = ("label", "text", "special", "segment", "word")  # the fields of a token that JSON files contain


class TooLong(ValueError):
    """Raised if a text has more weights than an exported file or picture may contain."""


def caption(view: View, layer: int | None = None, head: int | None = None) -> dict[str, Any]:
    """Return the provenance of a view's numbers: the model, the text and the view options."""
    trace, part = view.trace, view.part or view.trace.part
    where = {} if layer is None or head is None else {"layer": layer, "head": head}
    return {
        "model": trace.model.name,
        "revision": trace.model.revision,
        "weights_sha256": trace.model.weights,
        "architecture": trace.model.architecture,
        "text": trace.text,
        "pair": trace.pair,
        "target": trace.target_text,
        "tokens_read": len(trace.source),
        **({"truncated": translate(trace.truncated)} if trace.truncated else {}),
        "part": part,
        **where,
        "index_base": 0,
        "words_merged": view.words,
        "special_tokens_shown": view.special,
        "rows_renormalised": view.renormalise and not view.special and not view.is_signed,
        **({"signed": True} if view.is_signed else {}),
    }


def weights_csv(view: View, layer: int, head: int) -> bytes:
    """Return a head's map as CSV: a row for each query, a column for each key.

    The first column contains the query tokens. Repeated tokens get a number, such as "the#2" for the second "the".
    ``layer`` and ``head`` count from 0. Raises TooLong for more than MOST_CELLS weights.
    """
    weights = _head_weights(view, layer, head)
    queries = column_names(_texts(view.queries))
    rows = ([name, *row] for name, row in zip(queries, weights, strict=True))
    return csv_file(["query", *_texts(view.keys)], rows)


def weights_json(view: View, layer: int, head: int) -> bytes:
    """Return a head's map as JSON: {"caption", "queries", "keys", "weights"}, weights (query, key).

    ``caption`` is the provenance. Each query and key is an object with the fields in TOLD, and with "read_as", the
    token that the model reads. ``layer`` and ``head`` count from 0. Raises TooLong for more than MOST_CELLS weights.
    """
    weights = [[_shortest_float(weight) for weight in row] for row in _head_weights(view, layer, head)]
    content = {
        "caption": caption(view, layer, head),
        "queries": _tokens(view.queries),
        "keys": _tokens(view.keys),
        "weights": weights,
    }
    return json.dumps(content).encode()


def links_csv(view: View, count: int = 1000) -> bytes:
    """Return at most ``count`` links as CSV: those with the largest absolute weights over all layers and heads.

    The strongest link comes first. If the view hides special tokens, links from or to them are left out. Raises TooLong
    for more than MOST_WEIGHTS weights.
    """
    header = ["layer", "head", "from_position", "from", "to_position", "to", "weight"]
    rows = (
        [
            *(str(number) for number in (layer, head, query)),
            view.queries[query].label,
            str(key),
            view.keys[key].label,
            weight,
        ]
        for weight, layer, head, query, key in strongest_links(view, count)
    )
    return csv_file(header, rows)


def strongest_links(view: View, count: int) -> list[tuple[np.float32, int, int, int, int]]:
    """Return at most ``count`` links as (weight, layer, head, query, key), the strongest first.

    The strength of a link is the absolute value of its weight. Links of equal strength are in the order of (layer,
    head, query, key). Raises TooLong for more than MOST_WEIGHTS weights.
    """
    queries, keys = len(view.queries), len(view.keys)
    if view.layers * view.heads * queries * keys > MOST_WEIGHTS:
        raise TooLong(
            gettext_lazy(
                "The limit for strongest links is {most:,} weights; this text has {weights:,}. Shorten it.",
                most=MOST_WEIGHTS,
                weights=view.layers * view.heads * queries * keys,
            )
        )
    step = max(1, BLOCK // max(1, keys))
    found: list[tuple[np.float32, int, int, int, int]] = []
    least = np.float32(0)  # the weakest kept link, once there are ``count`` links
    for layer in view.attending:
        for head in range(view.heads):
            for start in range(0, queries, step):
                block = view.block(layer, head, (start, min(queries, start + step)), (0, keys))
                places = _top(block, least, count)
                found += [(block[row, col], layer, head, start + row, col) for row, col in places]
            found = sorted(found, key=lambda link: (-abs(link[0]), *link[1:]))[:count]
            least = abs(found[-1][0]) if len(found) == count else least
    return found


def _top(block: FloatArray, least: np.float32, count: int) -> list[tuple[int, int]]:
    """Return (row, column) of the ``count`` largest absolute values above ``least``, largest first."""
    flat = np.abs(block.reshape(-1))
    above = np.flatnonzero(flat > least)
    chosen = above[np.argsort(-flat[above], kind="stable")[:count]]
    return [(int(place) // block.shape[1], int(place) % block.shape[1]) for place in chosen]


def check_cells(view: View) -> None:
    """Raise TooLong if a map of the view has more than MOST_CELLS weights."""
    cells = len(view.queries) * len(view.keys)
    if cells > MOST_CELLS:
        raise TooLong(
            gettext_lazy(
                "The limit for a map is {most:,} weights; this one has {cells:,}. Shorten the text.",
                most=MOST_CELLS,
                cells=cells,
            )
        )


def _head_weights(view: View, layer: int, head: int) -> FloatArray:
    check_cells(view)
    return view.weights(layer, head)


def _shortest_float(weight: np.float32) -> float:
    """Return the float with the fewest digits that rounds to this float32; ``json`` writes those digits."""
    return float(str(weight))


def _texts(cells: Sequence[DisplayToken]) -> list[str]:
    return [cell.label for cell in cells]


def _tokens(cells: Sequence[DisplayToken]) -> list[dict[str, Any]]:
    return [{**{name: getattr(c, name) for name in TOLD}, "read_as": c.unknown or c.text} for c in cells]


def csv_file(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return a table as CSV with unique column names.

    Cells that are strings are escaped for spreadsheets.
    """
    lines = io.StringIO(newline="")
    writer = csv.writer(lines)
    writer.writerow(column_names(header))
    writer.writerows([safe_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return f"{MARK}{lines.getvalue()}".encode()


def format_value(value: object) -> str:
    """Return a value of the provenance as text: "yes" or "no" for booleans, "" for None."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
