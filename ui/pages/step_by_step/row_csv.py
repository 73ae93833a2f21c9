"""CSV export of a single attention row, from dot products to weights."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from attention.spreadsheet import safe_cell
from attention.walkthrough import WeightSteps


def row_csv(pieces: Sequence[str], weighing: WeightSteps) -> str:
    """Return a CSV with a line for each key, numbers with the shortest digits that restore the float32.

    ``weighing`` must have a single row; ``pieces`` are its keys.
    """
    columns = {
        "q·k": weighing.dots,
        "scaled": weighing.scaled,
        "after soft cap": weighing.capped,
        "bias": weighing.bias,
        "score": weighing.scores,
        "weight": weighing.weights,
    }
    there = {name: values[0] for name, values in columns.items() if values is not None}
    lines = io.StringIO(newline="")
    writer = csv.writer(lines)
    writer.writerow(["key", "token", *there])
    for at, piece in enumerate(pieces):
        writer.writerow([at, safe_cell(piece), *(str(values[at]) for values in there.values())])
    return "\ufeff" + lines.getvalue()
