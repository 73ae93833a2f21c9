"""CSV export of evaluation results, with the model's provenance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from probing.labelled.predictions import TestPredictions
from ui.show.tables import csv_table, download_button


def save_table(  # noqa: PLR0913  (the contents of the file and its provenance)
    label: str,
    names: Sequence[str],
    rows: Iterable[Sequence[object]],
    file: str,
    about: str,
    found: TestPredictions,
    model: str,
) -> None:
    """Draw a button that saves ``rows`` as CSV, with the model, its task, seed and steps."""
    told = {"model": model, **{name: str(found.scores[name]) for name in ("task", "seed", "steps")}}
    told["started from"] = str(found.scores["model"])
    download_button(label, csv_table(names, rows), f"headlight-results-{file}.csv", about,
         key=f"teach_save_{file}", provenance=told)  # fmt: skip
