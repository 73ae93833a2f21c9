"""Options of the page Why attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from training.jobs.baseline_runs import MODELS, PARTS, STEPS, TASKS

WHEN = ("before", "after")


@dataclass(frozen=True)
class WhyAttentionOptions:
    """Options of the page Why attention; None selects the model's width or the text's length."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "task": TASKS,
        "when": WHEN,
        "network": MODELS,
        "off": ("", *PARTS),
    }

    d: int | None = None
    k: int = 3  # kernel width of the convolution; the paper gives no value
    r: int = 64  # neighbourhood of restricted self-attention, in tokens
    n: int | None = None
    task: str = "recall"  # the task of the recorded runs and of a training here
    when: str = "after"  # draw the gradient before or after training
    network: str = "transformer"  # the network to train here
    off: str = ""  # the ablated part of the Transformer to train, or ""
    seed: int = 3  # the recorded runs have other seeds
    steps: int = STEPS
