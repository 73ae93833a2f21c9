"""The microscope without Streamlit: payload, scripts, addresses and binary answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from attention.codec import frame
from attention.excess import REACH, PositionalPrior
from attention.external_maps import EXACT
from attention.measures import MEASURES, HeadSummary, Measure, measures_of
from attention.record import MapRecord, Record
from attention.view import BLOCK, DisplayToken, View
from i18n import LazyMessage, gettext_lazy, translate
from viz.components.script import script as bundle
from viz.components.script import stylesheet, translated_words

TABS = ("matrix", "lines")
ORDERS = ("layer", *(measure.name for measure in MEASURES), "focus")
SCALES = ("sqrt", "linear")
FILTERS = ("all", "aa", "ab", "ba", "bb")
STRENGTHS = ("excess", "weight")
FACINGS = ("out", "in")
TOPS = ("fit", "one")
CHOICES = {
    "tab": TABS,
    "facing": FACINGS,
    "order": ORDERS,
    "scale": SCALES,
    "upto": TOPS,
    "filter": FILTERS,
    "by": STRENGTHS,
}


def choices(view: View) -> dict[str, tuple[str, ...]]:
    """The names that there are for a text: numbers with signs have no measures, and nothing usual to be beyond.

    A picture has the measures that say something of patches.
    """
    if not view.is_signed:
        return {**CHOICES, "order": ("layer", *(measure.name for measure in measures_of(view)), "focus")}
    return {**CHOICES, "order": ("layer", "focus"), "by": ("weight",)}


def payload(view: View, survey: HeadSummary, selection: Mapping[str, Any], base: str, query: str) -> dict[str, Any]:
    """What explore.js draws; the typedef Payload of types.js has the same fields.

    ``selection`` counts in cells of the view; ``base`` and ``query`` make up every address that is fetched.
    """
    trace = view.trace
    queries, keys = _cells(view.queries), _cells(view.keys)
    return {
        "version": 1,
        "state": "ready",
        "message": "",
        "base": base,
        "view": query,
        "model": {name: getattr(trace.model, name) for name in ("name", "revision", "weights", "kind")},
        "text": trace.text,
        "pair": trace.pair,
        **({"truncated": translate(trace.truncated)} if trace.truncated else {}),
        "layers": view.layers,
        "heads": view.heads,
        **({"attending": list(view.attending)} if len(view.attending) < view.layers else {}),
        "queries": queries,
        "keys": None if keys == queries else keys,
        "causal": view.causal,
        "direction": view.part or trace.part,
        "signed": view.is_signed,
        "rest": _rest(view),
        "patches": view.grids is not None,
        "measures": [_measure(measure, survey) for measure in measures_of(view) if measure.name in survey.measures],
        "choices": {name: list(names) for name, names in choices(view).items()},
        "sampled": survey.sampled,
        "selection": dict(selection),
    }


def _rest(view: View) -> str | None:
    """Return where the rest of a row goes that sums to less than one: to a head's "sink", or it is "missing"."""
    records = view.trace.records(view.part)
    if view.is_signed or view.renormalise or not view.special:
        return None
    if any(isinstance(record, Record) and record.sinks is not None for record in records):
        return "sink"
    short = any(isinstance(record, MapRecord) and record.maps.sum(axis=2).min() < 1 - EXACT for record in records)
    return "missing" if short else None


def script(name: str = "explore/explore") -> str:
    """A script that draws the microscope, which says everything in the language that is spoken here."""
    said = translated_words(name)
    speech = f"\nspeak({json.dumps(said, ensure_ascii=False)});\n" if said else ""
    return bundle(name) + speech


def style() -> str:
    """The component's style sheet, for the same."""
    return stylesheet("shared/look", "token_strip/token_strip", "explore/explore")


def _cells(cells: Sequence[DisplayToken]) -> list[dict[str, Any]]:
    return [_cell(cell) for cell in cells]


def _cell(cell: DisplayToken) -> dict[str, Any]:
    told = {"text": cell.text, "special": cell.special, "segment": cell.segment, "word": cell.word}
    told["at"] = list(cell.pieces)
    return {**told, "unknown": cell.unknown} if cell.unknown else told


def places(habits: PositionalPrior | None, view: View) -> dict[str, Any] | None:
    """What each head gives a place in other texts; null for a place that never came. Goes with the grid, once."""
    if habits is None:
        return None
    means = [[[None if np.isnan(m) else round(float(m), 4) for m in head] for head in layer] for layer in habits.means]
    _, keys = view.trace.token_rows(view.part)
    return {"means": means, "reach": REACH, "first": not view.crosses or keys.special[0]}


def _measure(measure: Measure, survey: HeadSummary) -> dict[str, Any]:
    """A measure as a row: how it is called and written, and its numbers (layer, head)."""
    row = {
        name: getattr(measure, name) for name in ("name", "label", "unit", "order", "descending", "digits", "clause")
    }
    row = {name: translate(value) if isinstance(value, LazyMessage) else value for name, value in row.items()}
    return {
        **row,
        "values": [
            [None if np.isnan(value) else value for value in layer]
            for layer in survey.measures[measure.name].round(4).tolist()
        ],
    }


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
