"""How far the maps of a model have come from what they were."""

from __future__ import annotations

from typing import Any

import numpy as np

from attention.head_comparison import divergence
from attention.mask import FloatArray
from probing.fine_tuning_changes import ROWS
from training.finetune.snapshot_recorder import SnapshotRecorder


class Drift:
    """A camera with the maps that a run starts from, by which all later ones are measured; of the first sentences."""

    def __init__(self, camera: SnapshotRecorder, many: int) -> None:
        self.camera, self.many = camera, many
        self.before = list(camera.maps(camera.start.model, many))
        self.telling = [camera.telling(at) for at in range(many)]

    def measure(self, model: Any) -> tuple[dict[str, FloatArray], list[FloatArray]]:
        """The Jensen–Shannon divergence of each head's rows from what they were, and the maps of the shown sentences.

        In bits, (sentence, layer, head) by ROWS, mean over those rows; NaN where a sentence has none of them.
        """
        every, telling, shown = [], [], []
        for at, after in enumerate(self.camera.maps(model, self.many)):
            bits = divergence(self.before[at], after)
            rows = self.telling[at]
            every.append(bits.mean(axis=-1))
            telling.append(bits[..., rows].mean(axis=-1) if len(rows) else np.full(bits.shape[:2], np.nan, np.float32))
            if at < self.camera.seen.shown:
                shown.append(after)
        return dict(zip(ROWS, (np.stack(every), np.stack(telling)), strict=True)), shown
