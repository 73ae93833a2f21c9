"""What the page Why attention lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from training.jobs.baseline_runs import MODELS, PARTS, STEPS, TASKS

WHEN = ("before", "after")


@dataclass(frozen=True)
class WhyAttentionOptions:
    """What this page lets its reader choose; None means the model's width and the text's length."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "task": TASKS,
        "when": WHEN,
        "network": MODELS,
        "off": ("", *PARTS),
    }

    d: int | None = None
    k: int = 3  # kernel width of the convolution; the paper gives none
    r: int = 64  # tokens that restricted attention sees
    n: int | None = None
    task: str = "recall"  # that the networks are trained on
    when: str = "after"  # of the training: the gradient that is drawn
    network: str = "transformer"  # that is trained here, with this seed and so many steps
    off: str = ""  # the part of it that is switched off
    seed: int = 3  # none of the recorded runs
    steps: int = STEPS
