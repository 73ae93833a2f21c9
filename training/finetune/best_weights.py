"""The best weights so far by the dev rows, in a file beside the checkpoint, which holds the newest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import load_model, save_model

NEAR_ZERO = 0.05  # scores below it are luck: the loss then decides


@dataclass(frozen=True)
class Mark:
    """Quality of weights on the dev rows."""

    score: float
    gain: float  # minus the loss
    step: int

    @property
    def rank(self) -> tuple[bool, float, float]:
        """The sort key: trained before untrained, then the score unless it is near zero, then the loss.

        >>> Mark(0.0, -1.0, 10).rank > Mark(0.0016, -2.0, 0).rank
        True
        """
        return self.step > 0, self.score if self.score >= NEAR_ZERO else 0.0, self.gain


def file(folder: Path) -> Path:
    """Where a run's best weights are."""
    return folder / "best.safetensors"


def mark(folder: Path) -> Mark | None:
    """How good the best weights so far are; None where there are none."""
    if not file(folder).is_file():
        return None
    with safe_open(file(folder), framework="pt") as opened:
        said = opened.metadata()
    return Mark(float(said["score"]), float(said["gain"]), int(said["step"]))


def save_if_better(folder: Path, model: Any, reached: Mark) -> bool:
    """Keeps the model's weights if they are better than what is there, and says whether they were."""
    before = mark(folder)
    if before is not None and reached.rank <= before.rank:
        return False
    partial = file(folder).with_suffix(".partial")
    save_model(model, str(partial), {name: repr(value) for name, value in vars(reached).items()})
    os.replace(partial, file(folder))
    return True


def load_best_weights(folder: Path, model: Any) -> None:
    """Puts the best weights into the model."""
    load_model(model, str(file(folder)))
