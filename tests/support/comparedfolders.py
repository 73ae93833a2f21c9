"""Synthetic training folders that compare the heads with their start and with shuffled-label controls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from attention.mask import FloatArray
from probing import fine_tuning_changes
from probing.fine_tuning_changes import ChangeFacts, ComparedSentence
from training.jobs import job as jobs
from training.jobs.job import JobStatus

SENTENCES, SHOWN = 12, 2
LOOK = JobStatus(
    jobs.new_job("", "=<b>a task</b>", "classify", model="all-MiniLM-L6-v2"), "done", "changes", "", 0, Path()
)


def spread(mean: float, seed: int) -> FloatArray:
    """Return random divergences around a mean, shape (sentence, layer, head)."""
    found: FloatArray = (np.random.default_rng(seed).uniform(0.5, 1.5, (SENTENCES, 2, 3)) * mean).astype(np.float32)
    return found


def job(folder: Path, task: float = 0.2, step: int = 40, film: bool = True, telling: bool = True) -> JobStatus:
    """Return a training in which head 1-2 changed more than in the shuffled-label control."""
    twin, moved = spread(task / 2, 1), spread(task / 2, 2)
    moved[:, 1, 2] *= 4
    bits: dict[tuple[str, str], FloatArray] = {
        ("task", "all"): moved,
        ("twin", "all"): twin,
        ("other twin", "all"): twin * np.float32(1.1),
    }
    bits |= {(who, "telling"): array if telling else array * np.nan for (who, _), array in bits.items()}
    pieces = ("[CLS]", "<b>play</b>", "[SEP]")
    maps = {
        (side, at): np.full((2, 3, 3, 3), 1 / 3, np.float32)
        for side in fine_tuning_changes.SIDES
        for at in range(SHOWN)
    }
    steps = np.array([0, 20, 40], np.float32)
    frames: dict[str, FloatArray] = {"step": steps, "maps": np.full((3, 2, 3, 3, 3), 1 / 3, np.float32)}
    frames |= {
        rows: np.stack([moved[:SHOWN] * np.float32(share) for share in (0, 0.5, 1)])
        for rows in fine_tuning_changes.ROWS
    }
    seen = tuple(
        ComparedSentence(f"<b>play</b> {at}", "play", pieces if at < SHOWN else None) for at in range(SENTENCES)
    )
    facts = ChangeFacts("all-MiniLM-L6-v2", "classify", step, "the row of [CLS]", seen)
    fine_tuning_changes.write(folder / "changes", facts, bits, maps, frames if film else None)
    return replace(LOOK, folder=folder)
