"""Every head removed in turn: what that changes, laid out by layer and head, and as a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.mask import FloatArray
from attention.trace import Trace
from i18n import _
from ui.ablation.edits import Head
from ui.show.csv_table import csv_table


def places_of(trace: Trace) -> list[Head]:
    """Return every head of a model that reads one text."""
    records = trace.records()
    return [(layer, head) for layer in trace.attending() for head in range(records[layer].heads)]


def as_head_map(places: Sequence[Head], found: FloatArray) -> FloatArray:
    """Numbers (place,) as (layer, head), no number where there is none; fewer may be known than there are places.

    >>> as_head_map([(0, 0), (0, 1), (1, 0)], np.array([1.0, 2.0], np.float32)).tolist()
    [[1.0, 2.0], [nan, nan]]
    """
    layers, heads = (1 + max(place[axis] for place in places) for axis in (0, 1))
    laid = np.full((layers, heads), np.nan, np.float32)
    for place, number in zip(places, found, strict=False):
        laid[place] = number
    return laid


def heads_csv(places: Sequence[Head], found: FloatArray, unit: str, base: int) -> str:
    """The same as CSV; layers and heads are counted from ``base``."""
    known = zip(places, found, strict=False)
    rows = [(layer + base, head + base, float(number)) for (layer, head), number in known]
    return csv_table([_("layer"), _("head"), unit], rows)
