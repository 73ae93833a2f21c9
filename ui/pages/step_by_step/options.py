"""What the page Step by step lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class StepOptions:
    """This page's own options: which view is shown, and the rules that are tried."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": ("steps", "neuron", "rules", "heads"),
        "scaling": ("none", "root", "own"),
    }
    show: str = "steps"
    scaling: str = "none"  # what the page opens with, so that there is a difference to see
    percent: int = 100  # the temperature in hundredths
    masked: bool = True
