"""Teach page: CSV export of the change of every head, with its provenance."""

from __future__ import annotations

from typing import Any

from training.jobs.job import JobStatus
from ui.pages.teach.changes_results import HeadChanges, load_changes
from ui.pages.teach.options import ROWS
from ui.show.tables import csv_table

HEADS = [
    "rows", "layer", "head", "task in bits", "task, low", "task, high", "twins in bits", "twins, low", "twins, high",
    "task less twins", "less twins, low", "less twins, high", "verdict over sentences", "p over sentences, corrected",
    "ahead of the twins in distance", "ahead needed, all heads corrected", "beyond chance",
]  # fmt: skip


def heads_csv(found: HeadChanges) -> str:
    """Return a CSV with a line for each kind of rows and each head; undefined numbers are empty cells."""
    lines: list[list[object]] = []
    for rows in ROWS:
        of_rows = load_changes(found.folder, rows)
        if of_rows is not None:
            lines += _lines(of_rows)
    return csv_table(HEADS, lines)


def change_provenance(look: JobStatus, found: HeadChanges) -> dict[str, Any]:
    """Return the training, its settings and the sentences that a table of the change was computed from."""
    facts = found.facts
    return {
        "model": look.job.name,
        "training": look.job.title,
        "before": facts.start,
        "task": facts.kind,
        "seed": look.job.settings.seed,
        "step": facts.step,
        "sentences": len(facts.sentences),
        "telling_rows": facts.telling,
    }


def _lines(found: HeadChanges) -> list[list[object]]:
    told = found.across
    means = (told.change, told.control, told.more)
    return [
        [
            found.rows,
            *found.place(at),
            *(_none_if_nan(one[at]) for mean in means for one in (mean.mean, mean.low, mean.high)),
            told.verdict(at),
            _none_if_nan(told.p[at]),
            float(found.ahead.flat[at]),
            found.luck,
            found.place(at) in found.heads_beyond,
        ]
        for at in range(len(told.p))
    ]


def _none_if_nan(value: float) -> float | None:
    number = float(value)
    return None if number != number else number
