"""A table of a taught model's results as a file that says which model it is of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from probing.labelled.predictions import TestPredictions
from ui.show.tables import csv_table, download_button


def save_table(  # noqa: PLR0913  (what a file is told)
    label: str,
    names: Sequence[str],
    rows: Iterable[Sequence[object]],
    file: str,
    about: str,
    found: TestPredictions,
    model: str,
) -> None:
    """A button that saves it under the model's name, what it started from, seed and steps."""
    told = {"model": model, **{name: str(found.scores[name]) for name in ("task", "seed", "steps")}}
    told["started from"] = str(found.scores["model"])
    download_button(label, csv_table(names, rows), f"headlight-results-{file}.csv", about,
         key=f"teach_save_{file}", provenance=told)  # fmt: skip
