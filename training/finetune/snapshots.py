"""The film of a run: how far every head has come at each evaluation, and its map of one sentence.

A frame is a file of its own, named by its step, so that a run that is resumed writes the same frames again and none
twice. There are some ten, of a short sentence: a megabyte for a small encoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attention.mask import FloatArray
from probing.fine_tuning_changes import ROWS, save_arrays
from training.finetune.drift import Drift

FOLDER = "film"  # inside the run's


@dataclass(frozen=True, eq=False)
class Snapshots:
    """What is filmed, and where the frames lie."""

    drift: Drift
    folder: Path

    def cut(self, step: int) -> None:
        """Leaves out what was filmed after a step: a run that goes on from there may plan its steps anew."""
        for file in self.folder.glob("*.npz"):
            if int(file.stem) > step:
                file.unlink()

    def frame(self, model: Any, step: int) -> None:
        """Films the model as it is now."""
        bits, maps = self.drift.measure(model)
        self.folder.mkdir(exist_ok=True)
        save_arrays(self.folder / f"{step:08}.npz", bits | {"maps": maps[0].astype(np.float16)})


def load_snapshots(folder: Path) -> dict[str, FloatArray] | None:
    """All frames as arrays: ``step`` (frame,); ``all`` and ``telling`` (frame, sentence, layer, head) in bits; ``maps``
    (frame, layer, head, query, key). None where nothing was filmed."""
    files = sorted(folder.glob("*.npz"))
    if not files:
        return None
    frames = []
    for file in files:
        with np.load(file) as opened:
            frames.append({name: opened[name] for name in (*ROWS, "maps")})
    return {
        "step": np.array([int(file.stem) for file in files], np.float32),
        **{name: np.stack([frame[name] for frame in frames]) for name in (*ROWS, "maps")},
    }
