"""What the microscope draws and what draws it, for the app and for a page of its own: payload, script, style.

Knows no Streamlit: a notebook shows the same without a server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attention.display_tokens import DisplayToken
from attention.external_maps import EXACT
from attention.head_summary import HeadSummary
from attention.measures import Measure, measures_of
from attention.positional_prior import REACH, PositionalPrior
from attention.record import MapRecord, Record
from attention.view import View
from i18n import LazyMessage, translate
from viz.components.explore.contract import choices
from viz.components.script import script as bundle
from viz.components.script import stylesheet, translated_words


def payload(  # noqa: PLR0913  (the fields of what is drawn)
    view: View, survey: HeadSummary, selection: Mapping[str, Any], base: str, query: str, index_base: int
) -> dict[str, Any]:
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
        "indexBase": index_base,
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
