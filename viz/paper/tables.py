"""Tidy tables of attention weights as CSV or Parquet, and a notebook that reproduces the weights."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attention.view import View
from i18n import _
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


def weights_notebook(view: View, layer: int, head: int, request: Mapping[str, Any]) -> bytes:
    """Return a Jupyter notebook (nbformat 4.5) that computes a head's map as ``weights``, shape (query, key).

    ``request`` has the fields of the TraceRequest for the view's trace; ``layer`` and ``head`` count from 0. The
    notebook fails if its largest weight differs by more than 0.001. Raise TooLong for more than MOST_CELLS weights.
    """
    check_cells(view)
    fields = ", ".join(f"{name}={value!r}" for name, value in request.items())
    look = f"part={view.part!r}, words={view.words}, special={view.special}, renormalise={view.renormalise}"
    load = (
        "import numpy as np\n\nfrom attention.view import View\nfrom inference import LocalBackend, TraceRequest\n\n"
        f"trace = LocalBackend().trace(TraceRequest({fields}))"
    )
    largest = float(view.weights(layer, head).max())
    compute = (
        f"view = View(trace, {look})\nweights = view.weights({layer}, {head})\n"
        f"np.testing.assert_allclose(weights.max(), {largest!r}, atol=1e-3)\nweights"
    )
    about = f"{methods(view, layer, head)}\n\n{_requirement()}"
    sources = [("markdown", about), ("code", load), ("code", compute)]
    return json.dumps(_document(sources), ensure_ascii=False, indent=1).encode()


def _requirement() -> str:
    """Return a sentence on the packages of the notebook; an installed Headlight has other module names."""
    if __name__.startswith("headlight"):
        return _('Install `"headlight-attention[torch]"` with pip first.')
    return _("Needs torch and transformers; start Jupyter in Headlight's repository.")


def methods(view: View, layer: int, head: int) -> str:
    """Return a sentence for a paper's methods section: the head, the model, its weights' hash and the tokens."""
    model = view.trace.model
    return _(
        "Attention weights of head {layer}-{head} of {model} (revision {revision}, weights SHA-256 {weights}), "
        "counted from 0, on a text of {tokens} tokens.",
        layer=layer,
        head=head,
        model=model.name,
        revision=model.revision or "–",
        weights=model.weights or "–",
        tokens=len(view.trace.source),
    )


def _document(sources: list[tuple[str, str]]) -> dict[str, Any]:
    cells: list[dict[str, Any]] = [
        {
            "cell_type": kind,
            "id": f"cell-{at}",
            "metadata": {},
            "source": source.splitlines(keepends=True),
            **({"execution_count": None, "outputs": []} if kind == "code" else {}),
        }
        for at, (kind, source) in enumerate(sources)
    ]
    return {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
