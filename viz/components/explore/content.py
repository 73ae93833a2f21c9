"""The content of the attention microscope without Streamlit: its data, scripts, and answers to requests for maps."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from attention.codec import frame
from attention.excess import REACH, PositionalPrior
from attention.external_maps import EXACT
from attention.mask import FloatArray
from attention.measures import HeadSummary, Measure, measures_of
from attention.record import MapRecord, Record
from attention.view import BLOCK, DisplayToken, View
from i18n import LazyMessage, gettext_lazy, translate
from viz.components.explore.options import options_for
from viz.components.script import script as bundle
from viz.components.script import stylesheet, translated_words
from viz.options import Option


def choices(view: View) -> dict[str, tuple[str, ...]]:
    """Return the values that each view option can have for this text, the default first."""
    return {name: tuple(declared.choices) for name, declared in options_for(view).items()}


def payload(view: View, survey: HeadSummary, selection: Mapping[str, Any], base: str, query: str) -> dict[str, Any]:
    """Return the data for explore.js, with the fields of the typedef Payload in types.js.

    ``selection`` has indices of the view's tokens. The script fetches maps from addresses that begin with ``base`` and
    end with ``query``.
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
        "options": {name: _option(declared) for name, declared in options_for(view).items()},
        "sampled": survey.sampled,
        "selection": dict(selection),
    }


def _option(declared: Option) -> dict[str, Any]:
    """Return a view option as a JSON object: its label, its help, and the value and text of each choice."""
    offered = [{"value": value, "text": translate(text)} for value, text in declared.choices.items()]
    return {"label": translate(declared.label), "help": translate(declared.help), "choices": offered}


def _rest(view: View) -> str | None:
    """Return the reason why rows sum to less than one: a head's "sink", or weights that are "missing".

    None means that rows sum to one, or that the view options explain the difference.
    """
    records = view.trace.records(view.part)
    if view.is_signed or view.renormalise or not view.special:
        return None
    if any(isinstance(record, Record) and record.sinks is not None for record in records):
        return "sink"
    short = any(isinstance(record, MapRecord) and record.maps.sum(axis=2).min() < 1 - EXACT for record in records)
    return "missing" if short else None


def script(name: str = "explore/explore") -> str:
    """Return the JavaScript file ``name`` with all modules it imports, and its messages in the active language."""
    said = translated_words(name)
    speech = f"\nspeak({json.dumps(said, ensure_ascii=False)});\n" if said else ""
    return bundle(name) + speech


def style() -> str:
    """Return the style sheet of the microscope."""
    return stylesheet("shared/look", "token_strip/token_strip", "shared/arcs", "explore/explore")


def _cells(cells: Sequence[DisplayToken]) -> list[dict[str, Any]]:
    return [_cell(cell) for cell in cells]


def _cell(cell: DisplayToken) -> dict[str, Any]:
    told = {"text": cell.text, "special": cell.special, "segment": cell.segment, "word": cell.word}
    told["at"] = list(cell.pieces)
    return {**told, "unknown": cell.unknown} if cell.unknown else told


def places(habits: PositionalPrior | None, view: View) -> dict[str, Any] | None:
    """Return the positional prior of each head as JSON values, or None if ``habits`` is None.

    The prior is the mean weight that a head gives each position in other texts. Positions without data have null. The
    values are sent together with the thumbnails.
    """
    if habits is None:
        return None
    means = [[[None if np.isnan(m) else round(float(m), 4) for m in head] for head in layer] for layer in habits.means]
    _, keys = view.trace.token_rows(view.part)
    return {"means": means, "reach": REACH, "first": not view.crosses or keys.special[0]}


def _measure(measure: Measure, survey: HeadSummary) -> dict[str, Any]:
    """Return a measure as a JSON object: its names, its format, and its values (layer, head)."""
    row = {name: getattr(measure, name) for name in ("name", "label", "unit", "descending", "digits", "clause")}
    row = {name: translate(value) if isinstance(value, LazyMessage) else value for name, value in row.items()}
    return {
        **row,
        "values": [
            [None if np.isnan(value) else value for value in layer]
            for layer in survey.measures[measure.name].round(4).tolist()
        ],
    }


LARGEST_TILE = 1024  # cells on a side at most
MOST_EXACT = 16_384  # So many numbers at most are sent as they are, in 64 KB; float16 would change their third digit.

QueryFields = Mapping[str, str]  # the fields of a query string


class BadRequest(ValueError):
    """Raised if a request for maps has an invalid field."""


def grid(found: HeadSummary, places: Mapping[str, Any] | None) -> bytes:
    """Return a binary message with the thumbnail and the column means of each head.

    A column mean is the mean weight on a key; the message also has the number of queries behind it. ``places`` has the
    positional priors, the mean weights at each distance on other texts, as returned by ``content.places``.
    """
    crowd = found.crowd
    arrays = {
        "grid": (found.thumbnails, "signed8" if found.signed else "sqrt8"),
        "means": add_coding(crowd.means()),
        "counts": (crowd.counts.astype(np.float32), "float16"),
    }
    rows = crowd.rows.tolist() if found.sampled else None
    return frame({"sampled": found.sampled, "rows": rows, "habits": places}, arrays)


def add_coding(numbers: FloatArray) -> tuple[FloatArray, str]:
    """Return numbers with their coding in a binary message: float32 for short texts, else float16.

    >>> add_coding(np.zeros((6, 12, 16), np.float32))[1], add_coding(np.zeros((6, 12, 512), np.float32))[1]
    ('float32', 'float16')
    """
    return numbers, "float32" if numbers.size <= MOST_EXACT else "float16"


def rows(view: View, asked: QueryFields) -> bytes:
    """Return a binary message with the weights that a query gives to all keys, in every head.

    The request ``asked`` has the index of the query in the field "query".
    """
    query = number(asked, "query", len(view.queries))
    return frame({"query": query}, {"rows": add_coding(view.rows(query))})


def columns(view: View, asked: QueryFields) -> bytes:
    """Return a binary message with the weights that a key receives from all queries, in every head.

    The request ``asked`` has the index of the key in the field "key".
    """
    key = number(asked, "key", len(view.keys))
    return frame({"key": key}, {"columns": add_coding(view.columns(key))})


def tile(view: View, asked: QueryFields) -> bytes:
    """Return a binary message with a rectangle of a head's map, reduced to the requested size in cells.

    The request ``asked`` has the head, the first and last indices of queries and keys, and the size.
    """
    layer, head = head_of(asked, view)
    (q0, q1), (k0, k1) = _span(asked, "q", len(view.queries)), _span(asked, "k", len(view.keys))
    wanted = number(asked, "size", 10**6)
    # This lower bound keeps each cell within the BLOCK weights that are computed at a time.
    size = min(max(1, wanted, -(-(q1 - q0) * (k1 - k0) // BLOCK)), LARGEST_TILE)
    weights = view.tile(layer, head, q0, q1, k0, k1, size)
    header = {"layer": layer, "head": head, "q0": q0, "q1": q1, "k0": k0, "k1": k1}
    exact = weights.shape == (q1 - q0, k1 - k0)
    return frame({**header, "exact": exact}, {"tile": add_coding(weights)})


OF_A_VIEW: dict[str, Callable[[View, QueryFields], bytes]] = {"rows": rows, "columns": columns, "tile": tile}


def number(asked: QueryFields, name: str, end: int) -> int:
    """Return a field of the request as an integer from 0 to end - 1; raise BadRequest for anything else.

    >>> number({"layer": "3"}, "layer", 6)
    3
    """
    raw = asked.get(name, "")
    if not (raw.isascii() and raw.isdigit() and len(raw) < 10 and int(raw) < end):
        raise BadRequest(
            gettext_lazy(
                "“{name}” is {raw!r}; expected a whole number from 0 to {last}.",
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
                "“{name}0” is {start}, not less than “{name}1”, {stop}.",
                name=name,
                start=start,
                stop=stop,
            )
        )
    return start, stop


def head_of(asked: QueryFields, view: View) -> tuple[int, int]:
    """Return the layer and the head of a request."""
    return number(asked, "layer", view.layers), number(asked, "head", view.heads)
