"""Tidy tables of attention weights and other columns as CSV, Parquet or JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attention.view import View
from viz.export import check_cells, csv_file

Columns = Mapping[str, Sequence[Any]]
FORMATS = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet", "json": "application/json"}


def weights_table(view: View, layer: int, head: int) -> Columns:
    """Return a head's weights as columns: the positions and texts of query and key, and the float32 weight.

    ``layer`` and ``head`` count from 0. Raise TooLong beyond MOST_CELLS weights.
    """
    check_cells(view)
    weights = view.weights(layer, head)
    rows, columns = weights.shape
    query, key = np.repeat(np.arange(rows), columns), np.tile(np.arange(columns), rows)
    return {
        "layer": [layer] * weights.size,
        "head": [head] * weights.size,
        "query_position": query.tolist(),
        "query": [view.queries[at].label for at in query],
        "key_position": key.tolist(),
        "key": [view.keys[at].label for at in key],
        "weight": weights.ravel(),
    }


def table_file(columns: Columns, file_format: str, about: Mapping[str, Any]) -> bytes:
    """Return columns of equal lengths as a file of ``file_format``, a key of FORMATS.

    CSV files contain only the table, so that ``pandas.read_csv`` needs no arguments; a missing value is an empty
    cell, and texts that look like formulas get an apostrophe. Parquet files have ``about`` in the metadata under the
    key "headlight", and JSON files under the key "provenance".

    >>> table_file({"word": ["=it", "he"], "p": [np.float32(0.1), None]}, "csv", {}).decode().splitlines()[1:]
    ["'=it,0.1", 'he,']
    """
    if file_format == "parquet":
        return _parquet(columns, about)
    if file_format == "json":
        plain = {name: [_plain(value) for value in values] for name, values in columns.items()}
        return json.dumps({"provenance": dict(about), "columns": plain}, ensure_ascii=False, indent=1).encode()
    values = ([_plain(value) for value in column] for column in columns.values())
    return csv_file(list(columns), zip(*values, strict=True))


def _plain(value: Any) -> Any:
    """Return a Python number, text or None; a float32 becomes the float with the fewest digits that rounds to it."""
    if isinstance(value, np.generic):
        value = float(str(value)) if isinstance(value, np.floating) else value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _parquet(columns: Columns, about: Mapping[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = [
        values if isinstance(values, np.ndarray) else [_plain(value) for value in values] for values in columns.values()
    ]
    table = pa.table(dict(zip(columns, map(pa.array, arrays), strict=True)))
    table = table.replace_schema_metadata({"headlight": json.dumps(dict(about), ensure_ascii=False)})
    page = io.BytesIO()
    pq.write_table(table, page)
    return page.getvalue()
