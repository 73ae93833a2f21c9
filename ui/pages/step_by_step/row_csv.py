"""One token's row of a head as a CSV file: every key's numbers on their way to a weight."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from attention.spreadsheet import safe_cell
from attention.walkthrough import WeightSteps


def row_csv(pieces: Sequence[str], weighing: WeightSteps) -> str:
    """The file, with the fewest digits that are each float32; ``weighing`` has one row, ``pieces`` its keys."""
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
