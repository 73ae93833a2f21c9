"""Made-up folders of trainings whose heads were compared with those of their start and their twins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from attention.mask import Array
from probing import changed
from probing.changed import Facts, Seen
from training.jobs import job as jobs
from training.jobs.job import Look

SENTENCES, SHOWN = 12, 2
LOOK = Look(jobs.asked("", "=<b>a task</b>", "classify", model="all-MiniLM-L6-v2"), "done", "changes", "", 0, Path())


def spread(mean: float, seed: int) -> Array:
    """Divergences around a mean, (sentence, layer, head)."""
    found: Array = (np.random.default_rng(seed).uniform(0.5, 1.5, (SENTENCES, 2, 3)) * mean).astype(np.float32)
    return found


def job(folder: Path, task: float = 0.2, step: int = 40, film: bool = True, telling: bool = True) -> Look:
    """A training whose head 1-2 went beyond the twin."""
    twin, moved = spread(task / 2, 1), spread(task / 2, 2)
    moved[:, 1, 2] *= 4
    bits: dict[tuple[str, str], Array] = {
        ("task", "all"): moved,
        ("twin", "all"): twin,
        ("other twin", "all"): twin * np.float32(1.1),
    }
    bits |= {(who, "telling"): array if telling else array * np.nan for (who, _), array in bits.items()}
    pieces = ("[CLS]", "<b>play</b>", "[SEP]")
    maps = {(side, at): np.full((2, 3, 3, 3), 1 / 3, np.float32) for side in changed.SIDES for at in range(SHOWN)}
    steps = np.array([0, 20, 40], np.float32)
    frames: dict[str, Array] = {"step": steps, "maps": np.full((3, 2, 3, 3, 3), 1 / 3, np.float32)}
    frames |= {rows: np.stack([moved[:SHOWN] * np.float32(share) for share in (0, 0.5, 1)]) for rows in changed.ROWS}
    seen = tuple(Seen(f"<b>play</b> {at}", "play", pieces if at < SHOWN else None) for at in range(SENTENCES))
    facts = Facts("all-MiniLM-L6-v2", "classify", step, "the row of [CLS]", seen)
    changed.write(folder / "changes", facts, bits, maps, frames if film else None)
    return replace(LOOK, folder=folder)
