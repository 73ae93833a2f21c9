"""What the results page shows of a model's test rows, counted once for all who look."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from probing.labelled.calibration import Calibration, answered, calibration
from probing.labelled.per_label import Counts, confusion, f1_interval, per_label
from probing.labelled.spans import Score
from probing.labelled.told import ROWS, Told, ToldRow, told, worst_first

KEPT = 4  # models whose test rows stay in memory


@dataclass(frozen=True, eq=False)
class Measured:
    """The rows, and what is counted of them."""

    told: Told
    rows: tuple[ToldRow, ...]  # the surest mistakes first
    counts: Counts  # (true, said)
    each: dict[str, Score]  # by class, or by kind of name
    f1: tuple[float, float]  # 95 % interval of that of names
    sureness: Calibration | None  # None where no word was said to be of a name


def measured(folder: Path) -> Measured:
    """The results in a model's folder; raises Refusal where they cannot be read."""
    rows = folder / ROWS
    return _measured(folder, rows.stat().st_mtime_ns if rows.exists() else 0)


@lru_cache(KEPT)
def _measured(folder: Path, _written: int) -> Measured:
    found = told(folder)
    given = answered(found)
    return Measured(
        found,
        tuple(worst_first(found.rows)),
        confusion(found),
        per_label(found),
        f1_interval(found),
        calibration(given) if len(given.sure) else None,
    )
