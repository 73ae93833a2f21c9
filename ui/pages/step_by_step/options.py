"""Options of the Step by step page, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class StepOptions:
    """Options of the Step by step page: the view, and the changed softmax rules."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": ("steps", "neuron", "rules", "heads"),
        "scaling": ("none", "root", "own"),
    }
    show: str = "steps"
    scaling: str = "none"  # The default differs from the model's rule, so that the figure shows an effect.
    percent: int = 100  # The temperature in hundredths.
    masked: bool = True
