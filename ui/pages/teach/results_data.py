"""What the results page shows of a model's test rows, counted once for all who look."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from probing.labelled.evaluation import (
    Calibration,
    Counts,
    SpanCounts,
    answer_confidences,
    calibration,
    confusion,
    f1_interval,
    per_label,
)
from probing.labelled.predictions import ROWS, TestPredictions, ToldRow, load_predictions, worst_first

KEPT = 4  # models whose test rows stay in memory


@dataclass(frozen=True, eq=False)
class EvaluationResults:
    """The rows, and what is counted of them."""

    predictions: TestPredictions
    rows: tuple[ToldRow, ...]  # the surest mistakes first
    counts: Counts  # (true, said)
    each: dict[str, SpanCounts]  # by class, or by kind of name
    f1: tuple[float, float]  # 95 % interval of that of names
    sureness: Calibration | None  # None where no word was said to be of a name


def load_results(folder: Path) -> EvaluationResults:
    """The results in a model's folder; raises Refusal where they cannot be read."""
    rows = folder / ROWS
    return _load_results(folder, rows.stat().st_mtime_ns if rows.exists() else 0)


@lru_cache(KEPT)
def _load_results(folder: Path, _written: int) -> EvaluationResults:
    found = load_predictions(folder)
    given = answer_confidences(found)
    return EvaluationResults(
        found,
        tuple(worst_first(found.rows)),
        confusion(found),
        per_label(found),
        f1_interval(found),
        calibration(given) if len(given.sure) else None,
    )
